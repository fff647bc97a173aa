"""Pure functions that bring URLs, titles and texts into the forms that are compared.

NORMALIZER_VERSION grows with every change of a result; it is stored with each article, so that a
change of the rules finds the articles that still carry the old forms.
"""

from articles.normalization.parameters import is_tracker
from articles.normalization.text import normalize_text, text_digest
from articles.normalization.titles import normalize_title, plain_title
from articles.normalization.urls import (
    canonicalize_url,
    comparable_url,
    dropped_parameters,
    host_of,
    normalize_url,
    unwrap_url,
    url_key,
)

NORMALIZER_VERSION = 2

__all__ = [
    "NORMALIZER_VERSION",
    "canonicalize_url",
    "comparable_url",
    "dropped_parameters",
    "host_of",
    "is_tracker",
    "normalize_text",
    "normalize_title",
    "normalize_url",
    "plain_title",
    "text_digest",
    "unwrap_url",
    "url_key",
]
