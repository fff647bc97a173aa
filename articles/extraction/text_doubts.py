"""Finds out why a text may not be the article of its page, or not all of it, and says so to people. Pure."""

from __future__ import annotations

from collections.abc import Collection

from articles.extraction.body import FoundText
from articles.extraction.offers import is_offer
from articles.extraction.relevance import coverage, relevance
from articles.normalization.text import letters

# A text with less than this share of the page's prose may be a piece of the article.
MIN_PROSE_SHARE = 0.5
# Shorter declared bodies are summaries.
MIN_DECLARED_LETTERS = 200
MIN_DECLARED_COVERAGE = 0.5
# If the page has another text, this one should have at least this share of the words of headline and description.
MIN_RELEVANCE = 0.35
# With fewer of so many words, it is likely to be another article.
MIN_SUBJECT_TERMS = 8
LEAST_RELEVANCE = 0.12
# A brief or the beginning of an article need not repeat its headline.
MIN_COMPARED_LETTERS = 600


def text_doubt(found: FoundText, declared_body: str, subject: Collection[str]) -> str:
    """Return why the text may be wrong or not whole; empty if nothing speaks against it.

    `declared_body` is the text that the page declares in JSON-LD, `subject` the terms of its headline and description.
    """
    text = found.text
    if is_offer(text):
        return "the text looks like a subscription, login or cookie notice"
    if letters(declared_body) >= MIN_DECLARED_LETTERS and coverage(declared_body, text) < MIN_DECLARED_COVERAGE:
        return "the text differs from the one that the page declares in JSON-LD"
    if found.prose and not found.marked and (share := len(text) / found.prose) < MIN_PROSE_SHARE:
        return f"the text covers {share:.0%} of the page's prose"
    fits = relevance(text, subject)
    compared = len(subject) >= MIN_SUBJECT_TERMS and letters(text) >= MIN_COMPARED_LETTERS
    if compared and fits < LEAST_RELEVANCE:
        return "the text has little in common with the headline"
    if found.rival and not found.marked and fits < MIN_RELEVANCE:
        return "the page has another text, and this one has little in common with the headline"
    return ""
