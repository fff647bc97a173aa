"""The url, title and exact passes: pairs of articles that share a key, given the articles of each key. Pure.

Groups come from a shuffle by key: a row each, with the key and a list of the articles that have it, in any order.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from dedup.detection.kernels.contents import READ_CHARACTERS, has_contents
from dedup.detection.passes.exact import ExactConfig, headline_counts
from dedup.detection.passes.grouping import grouped_candidates, near_candidates, shared_text
from dedup.detection.passes.title import TitleConfig
from dedup.detection.passes.url import UrlConfig
from dedup.detection.spark.pairs import pair_table
from dedup.detection.spark.parts import Keys
from dedup.detection.types import Candidate, Window

Members = Sequence[Mapping[str, Any]]  # KEYS, and what the pass asks


def url_pairs(groups: pa.Table, config: UrlConfig, window: Window) -> pa.Table:
    """Return the pairs of groups (newspaper, normalized_url, members), one for each URL that two articles share.

    The caller keeps, of each pair, the row of the first URL.
    """
    return _pairs_of(
        groups,
        lambda group, members: grouped_candidates(
            "url",
            [(group["normalized_url"], group["normalized_url"], member["id"], _day(member)) for member in members],
            window=window,
            largest=config.largest_group,
            star=False,
            evidence=shared_text,
        ),
    )


def exact_pairs(groups: pa.Table, config: ExactConfig, window: Window) -> pa.Table:
    """Return the pairs of groups (digest, members with normalized_title)."""
    return _pairs_of(
        groups,
        lambda group, members: grouped_candidates(
            "exact",
            [(group["digest"], _headline_of(member), member["id"], _day(member)) for member in members],
            window=window,
            largest=config.largest_group,
            star=True,
            evidence=partial(headline_counts, most=config.most_headlines),
        ),
    )


def title_pairs(groups: pa.Table, config: TitleConfig, window: Window) -> pa.Table:
    """Return the pairs of groups (normalized_title, members), those of generic headlines too."""
    return _pairs_of(
        groups,
        lambda group, members: near_candidates(
            "title",
            [(group["normalized_title"], group["normalized_title"], member["id"], _day(member)) for member in members],
            window=window,
            largest=config.largest_group,
            days_apart=config.days_apart,
        ),
    )


def in_doubt(groups: pa.Table, pairs: pa.Table, config: TitleConfig) -> pa.Table:
    """Return the articles (id, day, newspaper, normalized_title) whose texts decide whether a headline is generic.

    They are all articles of a newspaper under a headline, if there are enough of them and one is in a pair.
    """
    paired = set(pairs["left"].to_pylist()) | set(pairs["right"].to_pylist())
    asked: list[dict[str, Any]] = []
    for group in groups.to_pylist():
        by_newspaper: dict[int, list[Mapping[str, Any]]] = {}
        for each in group["members"]:
            by_newspaper.setdefault(each["newspaper"], []).append(each)
        for newspaper, members in by_newspaper.items():
            if len(members) >= config.generic_contents and any(member["id"] in paired for member in members):
                asked += [
                    {
                        "id": member["id"],
                        "day": member["day"],
                        "newspaper": newspaper,
                        "title": group["normalized_title"],
                    }
                    for member in members
                ]
    return pa.Table.from_pylist(asked, schema=ASKED)


ASKED = pa.schema([("id", pa.int64()), ("day", pa.int64()), ("newspaper", pa.int64()), ("title", pa.string())])
GENERIC = pa.schema([("newspaper", pa.int64()), ("title", pa.string())])


def generic_headlines(articles: pa.Table, config: TitleConfig) -> pa.Table:
    """Return the headlines (newspaper, title) that are generic, given all their articles (newspaper, title, day, id,
    text), complete for each headline, in any order.
    """
    ordered = articles.sort_by([(name, "ascending") for name in ("newspaper", "title", "day", "id")])
    texts: dict[tuple[int, str], list[str]] = {}
    for row in ordered.select(["newspaper", "title", "text"]).to_pylist():
        texts.setdefault((row["newspaper"], row["title"]), []).append(row["text"][:READ_CHARACTERS])
    found = [key for key, each in texts.items() if has_contents(each, config.generic_contents)]
    return pa.table(
        {"newspaper": [newspaper for newspaper, _ in found], "title": [title for _, title in found]}, schema=GENERIC
    )


def _pairs_of(groups: pa.Table, find: Any) -> pa.Table:
    found: list[Candidate] = []
    articles: dict[int, tuple[int, int]] = {}
    for group in groups.to_pylist():
        members = sorted(group["members"], key=lambda each: (each["day"], each["id"]))
        articles |= {member["id"]: (member["newspaper"], member["day"]) for member in members}
        found += find(group, members)
    return pair_table(
        _keys((candidate.left for candidate in found), articles),
        _keys((candidate.right for candidate in found), articles),
        np.ones(len(found)),
        [json.dumps(candidate.evidence, ensure_ascii=False) for candidate in found],
    )


def _keys(ids: Iterable[int], articles: Mapping[int, tuple[int, int]]) -> Keys:
    rows = [(id_, *articles[id_]) for id_ in ids]
    return Keys(*np.array(rows, dtype=np.int64).reshape(-1, 3).T)


def _headline_of(member: Mapping[str, Any]) -> str:
    """Return what headline_counts() reads of an article."""
    return f"{member['newspaper']} {_day(member)} {member['normalized_title']}"


def _day(member: Mapping[str, Any]) -> datetime.date:
    return datetime.date.fromordinal(member["day"])
