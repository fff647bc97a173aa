"""Boilerplate in a text that is shown whole, or cut into the segments of a difference."""

from dedup.comparison.differences import Segment, compare_texts
from dedup.comparison.highlighting import Passage, highlight_boilerplate, passages

CONTENT = "The ferry sails.\n\nRead more\n\nIt is late. Subscribe now."
MARKS = [[18, 27, 0], [41, 55, 1]]


def test_a_text_is_cut_at_its_marks() -> None:
    assert list(passages(CONTENT, MARKS)) == [
        Passage("The ferry sails.\n\n"),
        Passage("Read more", boilerplate=True),
        Passage("\n\nIt is late. "),
        Passage("Subscribe now.", boilerplate=True),
    ]
    assert list(passages(CONTENT, [])) == [Passage(CONTENT)]
    assert list(passages("", [])) == []


def test_the_segments_of_a_difference_are_cut_at_the_marks() -> None:
    other = "The boat sails.\n\nRead more\n\nIt is early."
    [*blocks] = highlight_boilerplate(compare_texts(CONTENT, other), (CONTENT, MARKS), (other, [[17, 26, 0]])).blocks
    left = [segment for block in blocks for segment in block.left]
    right = [segment for block in blocks for segment in block.right]

    assert "".join(segment.text for segment in left if segment.boilerplate) == "Read moreSubscribe now."
    assert "".join(segment.text for segment in right if segment.boilerplate) == "Read more"
    assert Segment("deleted", "ferry") in [Segment(each.kind, each.text.strip()) for each in left]
    # Nothing is lost but the blanks between blocks.
    assert "".join("".join(segment.text for segment in left).split()) == "".join(CONTENT.split())
    assert "".join("".join(segment.text for segment in right).split()) == "".join(other.split())


def test_without_marks_a_difference_is_unchanged() -> None:
    text = compare_texts("One. Two. Three.", "One. Three. Four.")
    assert highlight_boilerplate(text, ("One. Two. Three.", []), ("One. Three. Four.", [])) == text
