from script._written.language_words import FILE, written


def test_the_words_are_those_of_cldr() -> None:
    assert FILE.read_text(encoding="utf-8") == written()
