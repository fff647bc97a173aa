"""The patterns of article URLs, which are run within a bound."""

import pytest

from articles.normalization.url_patterns import SlowPatternError, check_pattern, finds, pattern_fault
from crawlers.demo.papers import PAPERS


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        ("", ""),
        (r"/(\w+-?)+/$", ""),  # not even slow here
        (r"/[a-z]{2}/(?:[a-z0-9]+-)*[a-z0-9]+\.html", ""),
        ("(", "This is not a regular expression: missing ), unterminated subpattern at position 0."),
        ("(1|1)+$", "It takes more than 1 second for a URL: do not repeat what repeats itself, as in (a+)+."),
    ],
)
def test_a_pattern_is_tried_on_long_urls(pattern: str, fault: str) -> None:
    assert pattern_fault(pattern) == fault


def test_a_url_that_makes_a_pattern_slow_is_given_up_and_the_pattern_with_it() -> None:
    pattern = "/(?:z|z)+$"
    check_pattern(pattern)
    assert finds(pattern, "https://news.example/zz")
    with pytest.raises(SlowPatternError):
        finds(pattern, f"https://news.example/{'z' * 200}!")
    with pytest.raises(SlowPatternError):
        finds(pattern, "https://news.example/zz")


def test_patterns_that_newspapers_have_are_accepted() -> None:
    assert [paper.article_url_pattern for paper in PAPERS.values() if pattern_fault(paper.article_url_pattern)] == []
