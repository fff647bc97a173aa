"""The writer of merges: moves the articles of one newspaper to another, and moves them back.

Everything that depends on an article's newspaper is only marked here. Moved articles get a new revision and lose their
boilerplate marks (triggers), and their forms count as outdated: the next run brings them, and all that rests on them,
to the state they would have if they had come under the newspaper's name from the start. No row is deleted.
"""

import datetime
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db.models import Max, Min
from django.utils import timezone

from articles.models import Article, ArticleURL, LearntParameter, Newspaper, NewspaperMerge, WhitelistedSentence
from articles.normalization.titles import plain_title
from articles.normalization.urls import url_key
from articles.querysets import executed
from articles.storage.ingest import refresh_statistics, writing
from articles.storage.newspapers import Paper
from articles.storage.renormalization import MARKED, mark_outdated
from articles.storage.title_affixes import affixes_learnt, newest_headlines

_RECORD_SQL = """
UPDATE articles_newspapermerge AS merge
SET article_ids = moved.ids, articles = cardinality(moved.ids)
FROM (
    SELECT coalesce(array_agg(id ORDER BY id), '{}') AS ids FROM articles_article WHERE newspaper_id = %(merged)s
) AS moved
WHERE merge.id = %(merge)s
"""
# The primary key finds the articles.
_MOVE_SQL = """
UPDATE articles_article AS article
SET newspaper_id = %(to)s, normalizer_version = %(marked)s
FROM (SELECT unnest(article_ids) AS id FROM articles_newspapermerge WHERE id = %(merge)s) AS moved
WHERE article.id = moved.id AND article.newspaper_id = %(from)s
"""

_SOURCES = ("feed_urls", "sitemap_urls", "section_urls")
_MAX_PATTERN_CHARACTERS = 500


class MergeError(ValueError):
    """Newspapers that cannot be merged, or a merge that cannot be undone; the message says why."""


@dataclass(frozen=True, slots=True)
class Carried:
    """The changes that a merge makes to the newspaper that stays.

    `added`: values added to its lists, by field. `replaced`: the old and the new value, by field. `parameters` and
    `sentences`: the ids of the learnt parameters and the whitelisted sentences that move to it. `collections`: the ids
    of those that it joins. `learnt_affixes`: its own before the merge. `left` names the sources that it cannot take
    over.
    """

    added: dict[str, list[str]] = field(default_factory=dict)
    replaced: dict[str, list[Any]] = field(default_factory=dict)
    parameters: list[int] = field(default_factory=list)
    sentences: list[int] = field(default_factory=list)
    collections: list[int] = field(default_factory=list)
    learnt_affixes: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MergePlan:
    """What a merge will do; the days are those of the first and the last article that moves, or None."""

    merged: Newspaper
    into: Newspaper
    articles: int
    first_day: datetime.date | None
    last_day: datetime.date | None
    carried: Carried

    @property
    def names(self) -> list[str]:
        """The names and hosts under which articles will be found to belong to the newspaper that stays."""
        known = {self.into.name, self.into.host, ""}
        others = [self.merged.name, self.merged.host, *(alias.alias for alias in self.merged.aliases.all())]
        return [name for name in dict.fromkeys(others) if name not in known]


def plan_merge(merged: Newspaper, into: Newspaper) -> MergePlan:
    """Return what a merge will do; change nothing. Raises MergeError."""
    _check(merged, into)
    days = merged.articles.aggregate(first=Min("date"), last=Max("date"))
    return MergePlan(merged, into, merged.articles.count(), days["first"], days["last"], _carried(merged, into))


def merge_newspapers(merged: Newspaper, into: Newspaper, *, user: Any = None) -> NewspaperMerge:
    """Move all articles of one newspaper to another one, which takes over its names and settings.

    One transaction, which waits for the writer of articles. Call it only while no run is active. Raises MergeError.
    """
    with writing():
        merged, into = _fresh(merged), _fresh(into)
        _check(merged, into)
        before, carried = Paper.of(into), _carried(merged, into)
        merge = NewspaperMerge(merged=merged, into=into, articles=0, carried=asdict(carried), merged_by=user)
        merge.save()
        executed(_RECORD_SQL, {"merged": merged.pk, "merge": merge.pk})
        moved = _move(merge, merged, into)
        merged.merged_into = into
        merged.save(update_fields=["merged_into"])
        _carry(carried, into)
        into.learnt_affixes = affixes_learnt(into, ())
        _save(into, before)
    refresh_statistics(moved)
    return NewspaperMerge.objects.defer("article_ids").get(pk=merge.pk)


def undo_merge(merge: NewspaperMerge, *, user: Any = None) -> int:
    """Move the articles of a merge back and restore the settings; return how many moved.

    Articles stored since the merge stay where they are. Settings that were changed since keep the change. As in
    merge_newspapers, one transaction, and only while no run is active. Raises MergeError.
    """
    with writing():
        merge = NewspaperMerge.objects.select_for_update().defer("article_ids").get(pk=merge.pk)
        _check_undo(merge)
        merged, into = _fresh(merge.merged), _fresh(merge.into)
        before = Paper.of(into)
        _give_back(Carried(**merge.carried), merged, into)
        moved = _move(merge, into, merged)
        _forget_parameters(merge, merged, into)
        merged.merged_into = None
        merged.learnt_affixes = affixes_learnt(merged, merged.learnt_affixes)
        merged.save(update_fields=["merged_into", "learnt_affixes"])
        into.learnt_affixes = affixes_learnt(into, merge.carried["learnt_affixes"])
        _save(into, before)
        merge.undone_at, merge.undone_by = timezone.now(), user
        merge.save(update_fields=["undone_at", "undone_by"])
    refresh_statistics(moved)
    return moved


def _save(newspaper: Newspaper, before: Paper) -> None:
    newspaper.save()
    if Paper.of(newspaper) != before:
        mark_outdated(newspaper)


def last_merge(merged: Newspaper) -> NewspaperMerge:
    """Return the merge of a newspaper that is not undone. Raises MergeError."""
    merge = NewspaperMerge.objects.defer("article_ids").filter(merged=merged, undone_at=None).first()
    if merge is None:
        raise MergeError(f"{merged} is not merged into another newspaper, so there is nothing to undo")
    return merge


def stored_since(merge: NewspaperMerge) -> int:
    """Return how many articles the newspaper that stayed got after the merge, under any name."""
    return Article.objects.filter(newspaper=merge.into, stored_at__gt=merge.merged_at).count()


def _fresh(newspaper: Newspaper) -> Newspaper:
    return Newspaper.objects.select_for_update().get(pk=newspaper.pk)


def _check(merged: Newspaper, into: Newspaper) -> None:
    if merged.pk == into.pk:
        raise MergeError(f"{merged} cannot be merged into itself; choose another newspaper")
    for newspaper in (merged, into):
        if newspaper.merged_into is not None:
            raise MergeError(f"{newspaper} is already merged into {newspaper.merged_into}; undo that merge first")


def _check_undo(merge: NewspaperMerge) -> None:
    if merge.undone_at:
        raise MergeError(f"the merge of {merge} was undone on {merge.undone_at:%Y-%m-%d}; there is nothing to undo")
    if merge.into.merged_into is not None:
        raise MergeError(f"{merge.into} is itself merged into {merge.into.merged_into}; undo that merge first")
    later = NewspaperMerge.objects.filter(into=merge.into, undone_at=None, pk__gt=merge.pk).first()
    if later is not None:
        raise MergeError(f"{later} was merged later; undo that merge first")


def _carried(merged: Newspaper, into: Newspaper) -> Carried:
    """Return which settings of the merged newspaper the other one takes over. Its own settings take precedence."""
    refused = set(into.learnt_parameters.values_list("name", flat=True))
    wanted = {
        "title_affixes": [*_name_in_headlines(merged), *merged.title_affixes],
        "refused_affixes": [affix for affix in merged.refused_affixes if affix not in into.title_affixes],
        "kept_url_parameters": [parameter for parameter in merged.kept_url_parameters if parameter not in refused],
    }
    pattern, left = _pattern_of_both(merged, into), []
    if merged.teasers != into.teasers and _has_sources(into):  # what is read in one way is not read in the other
        pattern, left = into.article_url_pattern, [name for name in _SOURCES if getattr(merged, name)]
    elif pattern is None:
        wanted["feed_urls"] = merged.feed_urls
        left = [name for name in ("sitemap_urls", "section_urls") if getattr(merged, name)]
    else:
        wanted |= {name: getattr(merged, name) for name in _SOURCES}
    added = {name: [value for value in values if value not in getattr(into, name)] for name, values in wanted.items()}
    gets_sources = _has_sources(merged) and not _has_sources(into)
    replaced: dict[str, list[Any]] = {}
    if pattern not in (None, into.article_url_pattern):
        replaced["article_url_pattern"] = [into.article_url_pattern, pattern]
    if merged.teasers != into.teasers and gets_sources:
        replaced["teasers"] = [into.teasers, merged.teasers]
    if merged.crawl and not into.crawl and gets_sources:
        replaced["crawl"] = [False, True]
    whitelisted = WhitelistedSentence.objects.filter(newspaper=into).values("digest")
    kinds = into.collections.order_by().values("kind")
    return Carried(
        added={name: values for name, values in added.items() if values},
        replaced=replaced,
        parameters=list(merged.learnt_parameters.exclude(name__in=refused).values_list("pk", flat=True)),
        sentences=list(merged.whitelisted_sentences.exclude(digest__in=whitelisted).values_list("pk", flat=True)),
        collections=list(merged.collections.exclude(kind__in=kinds).values_list("pk", flat=True)),
        learnt_affixes=into.learnt_affixes,
        left=left,
    )


def _name_in_headlines(newspaper: Newspaper) -> list[str]:
    """Return the newspaper's name if any of its headlines has it at an end, so that it is still removed there."""
    names = [newspaper.name]
    headlines = newest_headlines(newspaper)
    return names if any(plain_title(headline, names) != plain_title(headline) for headline in headlines) else []


def _pattern_of_both(merged: Newspaper, into: Newspaper) -> str | None:
    """Return the pattern of article URLs for the sitemaps and section pages of both; None if there is none."""
    if not (merged.sitemap_urls or merged.section_urls) or merged.article_url_pattern == into.article_url_pattern:
        return into.article_url_pattern
    if not (into.sitemap_urls or into.section_urls):
        return merged.article_url_pattern
    if not (merged.article_url_pattern and into.article_url_pattern):
        return None
    both = f"(?:{into.article_url_pattern})|(?:{merged.article_url_pattern})"
    return both if len(both) <= _MAX_PATTERN_CHARACTERS else None


def _has_sources(newspaper: Newspaper) -> bool:
    return any(getattr(newspaper, name) for name in _SOURCES)


def _carry(carried: Carried, into: Newspaper) -> None:
    """Set the settings on the row, which the caller saves, and move what has rows of its own."""
    for name, values in carried.added.items():
        setattr(into, name, [*getattr(into, name), *values])
    for name, (_, value) in carried.replaced.items():
        setattr(into, name, value)
    LearntParameter.objects.filter(pk__in=carried.parameters).update(newspaper=into)
    WhitelistedSentence.objects.filter(pk__in=carried.sentences).update(newspaper=into)
    into.collections.add(*carried.collections)


def _give_back(carried: Carried, merged: Newspaper, into: Newspaper) -> None:
    """Reverse `_carry`, except where something was changed since."""
    for name, values in carried.added.items():
        setattr(into, name, [value for value in getattr(into, name) if value not in values])
    for name, (before, after) in carried.replaced.items():
        if getattr(into, name) == after:
            setattr(into, name, before)
    into.collections.remove(*carried.collections)
    own = merged.learnt_parameters.values("name")
    parameters = LearntParameter.objects.filter(pk__in=carried.parameters, newspaper=into)
    parameters.exclude(name__in=own).update(newspaper=merged)
    sentences = WhitelistedSentence.objects.filter(pk__in=carried.sentences, newspaper=into)
    sentences.exclude(digest__in=merged.whitelisted_sentences.values("digest")).update(newspaper=merged)


def _forget_parameters(merge: NewspaperMerge, merged: Newspaper, into: Newspaper) -> None:
    """Forget the URL parameters that were learnt since the merge from an article that has moved back."""
    for learnt in into.learnt_parameters.filter(learnt_at__gt=merge.merged_at):
        keys = [url_key(learnt.first_url), url_key(learnt.second_url)]
        if ArticleURL.objects.filter(key__in=keys, article__newspaper=merged).exists():
            into.kept_url_parameters = [name for name in into.kept_url_parameters if name != learnt.name]
            learnt.delete()


def _move(merge: NewspaperMerge, source: Newspaper, target: Newspaper) -> int:
    """Move the articles of a merge from one newspaper to the other; return how many."""
    return executed(_MOVE_SQL, {"merge": merge.pk, "from": source.pk, "to": target.pk, "marked": MARKED})
