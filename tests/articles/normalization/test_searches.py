"""What people type to search for articles by words."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.normalization.searches import SearchError, WordSearch, characters_apart, read_search


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("Ferry Line", "('ferry' & 'line')"),
        ("“Ferry Line” it's", "('ferry line' & 'it s')"),
        ("ferry AND -port not", "('ferry' & !'port' & 'not')"),
        ("ferry boat OR ship*", "(('ferry' & 'boat') | 'ship':*)"),
        ("NOT (ferry OR boat) -(a b)", "(!('ferry' | 'boat') & !('a' & 'b'))"),
        ('headline:"ferry li*" note:x', "('ferry li':*A & 'note x')"),
        ("東京 rain", "('東京' & 'rain')"),
        ("-- !!! ()", ""),
    ],
)
def test_words_are_written_for_postgresql(typed: str, words: str) -> None:
    assert read_search(typed) == WordSearch(words)


def test_a_search_narrows_articles() -> None:
    units = 'newspaper:"Harbour Post" -Newspaper:courier Collection:coast -collection:west'
    found = read_search(f"{units} language:DE after:2024-05 before:2025 x")
    named = [("newspaper", "Harbour Post"), ("collection", "coast")]
    but = [("newspaper", "courier"), ("collection", "west")]
    days = datetime.date(2024, 5, 1), datetime.date(2025, 1, 1)
    assert found == WordSearch("'x'", named, but, ["de"], *days)
    assert characters_apart("'東京 rain'") == "' 東 京 rain'".replace("  ", " ")


@pytest.mark.parametrize(
    ("typed", "fault"),
    [
        ('"ferry', "quotation mark"),
        ("(ferry", '"(" has no ")"'),
        ("ferry)", '")" has no "("'),
        ("ferry OR", "OR stands between two words"),
        ("ferry NOT", "NOT has no word"),
        ("after:2024-13", "after:2024-13 is not a day. Write after:2024-05-31"),
        ("(newspaper:post)", "without brackets"),
        ("-after:2024", "without a minus"),
        ("(" * 21, "More than 20 brackets"),
        ("a " * 51, "more than 50 words"),
        ("a" * 2_001, "2,001 characters; a search takes at most 2,000"),
    ],
)
def test_a_search_that_cannot_be_read_says_why(typed: str, fault: str) -> None:
    with pytest.raises(SearchError) as error:
        read_search(typed)
    assert fault in str(error.value)


PARTS = st.sampled_from(
    ['"', "(", ")", "-", "OR", "NOT", "AND", "headline:", "after:", "a", "'", "\\", "*", ":", "&", "\0", "é"]
)


@pytest.mark.django_db
@given(st.lists(PARTS, max_size=30).map(" ".join) | st.lists(PARTS, max_size=30).map("".join) | st.text(max_size=40))
def test_postgresql_reads_whatever_was_typed(typed: str) -> None:
    from articles.querysets import fetched  # noqa: PLC0415

    try:
        words = read_search(typed).words
    except SearchError:
        return
    fetched("SELECT to_tsquery('english', %(words)s), to_tsquery('simple', %(words)s)", {"words": words})
