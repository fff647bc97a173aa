"""Damage to texts: how much of it, the same every time, and what is still found."""

import json
from random import Random

import pytest

from benchmarks import __main__, noise
from benchmarks.noise import NOISES, cropped, hyphenated, misread, moved, sides_of
from dedup.research.labels import Label, LabelsError, Named
from tests.dedup.research.conftest import _migrate_once, files  # noqa: F401 - fixtures
from tests.dedup.research.small_corpus import RAIN, TRAM, WIRE

PARTS = f"{WIRE}\n\n{TRAM}\n\n{RAIN}"


@pytest.mark.parametrize("share", [0.01, 0.1])
def test_about_the_share_asked_for_is_misread(share: float) -> None:
    text = "The northern breakwater will close for six weeks while divers replace the anchor chains. " * 60
    damaged = misread(text, Random(7), share=share)
    # Each misreading changes one or two characters, and seldom the number of words.
    wrong = sum(
        one != other for one, other in zip(text.split(), damaged.split(), strict=False) if len(one) == len(other)
    )
    assert damaged == misread(text, Random(7), share=share) != misread(text, Random(8), share=share)
    assert abs(len(damaged) - len(text)) < 2 * share * len(text)
    assert wrong > 0
    assert misread(text, Random(7), share=0) == text
    assert misread("கடல்", Random(7), share=1.0) != "கடல்"


def test_words_at_line_ends_are_hyphenated_and_nothing_is_lost() -> None:
    lines = hyphenated(PARTS, Random(7))
    assert max(map(len, lines.splitlines())) <= 42
    assert lines.count("-\n") > 5
    assert lines.replace("-\n", "").replace("\n", " ").split() == PARTS.split()


def test_texts_are_cropped_by_words_and_paragraphs_move() -> None:
    assert cropped("one two  three four", Random(7), share=0.5) == "one two"
    assert (cropped("one", Random(7), share=0.1), cropped("", Random(7), share=0.5)) == ("one", "")
    assert sorted(moved(PARTS, Random(7)).split("\n\n")) == sorted(PARTS.split("\n\n"))
    assert moved(PARTS, Random(7)) != PARTS
    assert sorted(moved(WIRE, Random(7)).split()) == sorted(WIRE.split())
    assert moved(WIRE, Random(7)) != WIRE
    assert moved("One sentence.", Random(7)) == "One sentence."


def test_each_pair_has_one_damaged_side() -> None:
    a, b, c, d = (Named(name) for name in "abcd")
    pairs = [(a, b), (b, c), (c, a), (c, d)]
    sides = sides_of([Label(line, ends, "D") for line, ends in enumerate(pairs)] + [Label(9, (a, d), "N")])
    assert ([label.ends for label in sides.labels], sides.left_out) == ([(a, b), (b, c), (c, d)], 1)
    assert sides.damaged == {b, d}
    with pytest.raises(LabelsError, match="name no duplicate"):
        sides_of([Label(1, (a, b), "T")])


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_it_says_what_is_still_found(
    files: list[str],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(noise, "NOISES", [known for known in NOISES if known.name in {"none", "crop_30"}])
    monkeypatch.setattr(
        "sys.argv", ["", "noise", *files, "--others=3", "--format=json", "--no-progress", "--workers=1"]
    )
    assert __main__.main() == 0
    printed = capsys.readouterr()
    assert "cropped to the first 30%:" in printed.err
    result = json.loads(printed.out)
    assert (result["duplicates"], result["left_out"], result["seed"]) == (2, 0, 1)
    assert 4 <= result["articles"] <= 7
    unchanged, short = ({name: recall["recall"] for name, recall in row["recall"].items()} for row in result["rows"])
    # One of the two is a copy, with a weight of 3; the other one has another text.
    assert {unchanged[name] for name in ("verdict", "any", "exact", "trigram", "minhash", "datasketch")} == {0.75}
    assert (short["exact"], short["minhash"], short["datasketch"], short["containment"]) == (0.0, 0.0, 0.0, 0.75)
    noise._print(result)
    assert capsys.readouterr().out.startswith("2 labelled duplicates, one side of each damaged, among ")
