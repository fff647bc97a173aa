import runpy
from pathlib import Path


def test_the_words_are_those_of_cldr() -> None:
    made = runpy.run_path(str(Path(__file__).parents[3] / "script" / "language_words.py"))
    assert made["FILE"].read_text(encoding="utf-8") == made["written"]()
