"""The url pass: articles of one newspaper with the same URL, once tracking parameters are removed."""

from dataclasses import dataclass
from typing import ClassVar

from dedup.detection.passes.base import PassConfig
from dedup.detection.passes.keyed import Key, KeyedPass, Words, articles_of_a_key
from dedup.detection.types import Mark


@dataclass(frozen=True, slots=True)
class UrlConfig(PassConfig):
    """Settings of the url pass."""

    largest_group: int = articles_of_a_key(
        25,
        "A normalised URL shared by more articles than this is ignored.",
        "Media Cloud's 2018 rules, which refuse headlines shared by more than 25 articles",
        "Most articles under one address",
    )


class UrlPass(KeyedPass):
    """Pairs within a newspaper whose URLs have the same lossy normal form, on any day."""

    name: ClassVar[str] = "url"
    label: ClassVar[str] = "Same URL"
    proposes: ClassVar[str] = "the same URL in one newspaper, once tracking parameters are removed"
    config_class: ClassVar[type[PassConfig]] = UrlConfig
    mark: ClassVar[Mark] = Mark.URLS
    marked_note: ClassVar[str] = "the same address, apart from tracking parameters"
    # Every URL of an article counts: its own, the feed's, the redirect's target, the canonical one.
    # A URL without a path is a front page, which many articles may name. By the index article_url_normalized.
    key: ClassVar[Key] = Key(
        "known.normalized_url",
        source="{articles} AS article JOIN {article_urls} AS known ON known.article_id = article.id",
        several=True,
        eligible="known.normalized_url ~ '//[^/]+/.'",
        lookup="md5(known.normalized_url) = md5(%(only)s) AND known.normalized_url = %(only)s",
    )
    words: ClassVar[Words] = Words(
        same="Both have the URL {key}.",
        different="They share no URL, once tracking parameters are removed.",
        ineligible="They share only the URL of a front page, which names no article.",
        elsewhere="They share a URL but are of two newspapers; this pass compares within one.",
        too_many="{articles:,} articles have the URL {key} that they share. URLs of more than {largest_group:,} "
        "articles are ignored.",
    )
