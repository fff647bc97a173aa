"""Boilerplate, and what a pass found, in a text that is shown whole, or cut into the segments of a difference."""

from dedup.detection.comparison.differences import Segment, compare_texts
from dedup.detection.comparison.highlighting import MarkedText, Passage, passages

CONTENT = "The ferry sails.\n\nRead more\n\nIt is late. Subscribe now."
MARKS = [[18, 27, 0], [41, 55, 1]]


def test_a_text_is_cut_at_its_marks() -> None:
    assert list(passages(MarkedText(CONTENT, MARKS))) == [
        Passage("The ferry sails.\n\n"),
        Passage("Read more", boilerplate=True),
        Passage("\n\nIt is late. "),
        Passage("Subscribe now.", boilerplate=True),
    ]
    assert list(passages(MarkedText(CONTENT, []))) == [Passage(CONTENT)]
    assert list(passages(MarkedText("", []))) == []
    assert list(passages(MarkedText("One two three.", [[4, 7, 0]], [(0, 5), (8, 14)]))) == [
        Passage("One ", found=True),
        Passage("t", boilerplate=True, found=True),
        Passage("wo", boilerplate=True),
        Passage(" "),
        Passage("three.", found=True),
    ]


def test_the_segments_of_a_difference_are_cut_at_the_marks() -> None:
    other = "The boat sails.\n\nRead more\n\nIt is early."
    texts = MarkedText(CONTENT, MARKS, [(4, 16)]), MarkedText(other, [[17, 26, 0]], [(4, 15)])
    [*blocks] = compare_texts(*texts).blocks
    left = [segment for block in blocks for segment in block.left]
    right = [segment for block in blocks for segment in block.right]

    assert "".join(segment.text for segment in left if segment.boilerplate) == "Read moreSubscribe now."
    assert "".join(segment.text for segment in right if segment.boilerplate) == "Read more"
    assert "".join(segment.text for segment in left if segment.found) == "ferry sails."
    assert "".join(segment.text for segment in right if segment.found) == "boat sails."
    assert Segment("deleted", "ferry sails.", found=True) in [
        Segment(segment.kind, segment.text.strip(), found=segment.found) for segment in left
    ]
    assert "".join(segment.text for segment in left) == CONTENT
    assert "".join(segment.text for segment in right) == other
