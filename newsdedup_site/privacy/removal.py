"""Removes newspapers and articles, and withholds articles, on an admin's word alone.

A removal is done in batches, and resumed wherever a process was killed. First, in one transaction, it is logged, the
names are gone from the newspaper and their digests kept, so that nothing comes to it any more. Then the texts are
deleted, batch by batch: from there on no page shows them. Last, while no run is active, the articles go with their
pairs, and the clusters of the others are rebuilt.
"""

import datetime
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import Any, LiteralString, NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from articles.jobs.work import JobPostponedError, Work, ask
from articles.models import (
    Article,
    ArticlePage,
    ArticleRevision,
    ArticleURL,
    AttachedCopy,
    DeclaredURL,
    HeadlineVariant,
    Job,
    Newspaper,
    NewspaperAlias,
    NewspaperMerge,
    Removal,
    Withholding,
)
from articles.querysets import executed, fetched
from articles.storage.ingest import refresh_statistics, writing
from articles.storage.removed import blank, keep_names, keep_urls, lift, put_back, take_away
from crawlers.models import Crawl, CrawlSchedule, PendingLink, SitePace, Visit
from dedup.detection.clustering.constraints import lock_review
from dedup.detection.runs.dense_groups import update_groups
from dedup.detection.runs.starting import RunActiveError, run_lock
from dedup.detection.runs.text_indexes import complete_samples
from dedup.models import ChangedArticle, Cluster, GroupMember, Series, ShingleCounts, ShingleSample
from dedup.review.answers.removed_articles import forget
from newsdedup_site.privacy import traces

PLACEHOLDER = "Removed"
HIDDEN_AT_ONCE, REMOVED_AT_ONCE = 1_000, 500
# A crawl that has given no sign of life for so long has ended.
_CRAWL_SILENCE = datetime.timedelta(minutes=2)
MAX_ARTICLES = 100
MAX_REASON_CHARACTERS = 2_000

# Articles of a removal that are not hidden yet: also those whose texts are kept because they were only withheld.
_SHOWN = Q(withheld=False) | Exists(Withholding.objects.filter(article=OuterRef("pk"), released_at=None))


class RemovalError(ValueError):
    """What cannot be removed, withheld or released, or not now; the message is for the admin."""


# -- What it would take -----------------------------------------------------------------------------------------

# The articles of a newspaper are read once, as an array; each table finds them by its index, or is read once.
_COUNTS_SQL: LiteralString = """
WITH gone AS MATERIALIZED (
    SELECT unnest(%(articles)s::bigint[]) AS id
), pairs AS MATERIALIZED (
    SELECT pair.id FROM dedup_pair AS pair JOIN gone ON gone.id = pair.left_id
    UNION SELECT pair.id FROM dedup_pair AS pair JOIN gone ON gone.id = pair.right_id
), sampled AS (
    SELECT drawn.id FROM dedup_sampledpair AS drawn JOIN gone ON gone.id = drawn.left_id
    UNION SELECT drawn.id FROM dedup_sampledpair AS drawn JOIN gone ON gone.id = drawn.right_id
)
SELECT (SELECT count(*) FROM pairs),
    (SELECT count(*) FROM dedup_evidence AS evidence JOIN pairs ON pairs.id = evidence.pair_id),
    (SELECT count(*) FROM sampled),
    (SELECT count(*) FROM dedup_decision WHERE articles && %(articles)s::bigint[])
"""


class Preview(NamedTuple):
    """What a removal would take: labels with numbers above 0, in reading order, and what would only change."""

    goes: list[tuple[str, int]]
    changes: list[tuple[str, int]]


def preview_newspaper(newspaper: Newspaper) -> Preview:
    """Return what removing a newspaper would take. Raises RemovalError."""
    family = family_of(newspaper)
    of_newspaper = [
        ("merged newspapers", len(family) - 1),
        ("series", Series.objects.filter(newspaper__in=family).count()),
        ("links that wait or were refused", PendingLink.objects.filter(newspaper__in=family).count()),
        ("visits of crawls", Visit.objects.filter(newspaper__in=family).count()),
    ]
    return _preview(Article.objects.filter(newspaper__in=family), of_newspaper)


def preview_article(article_id: int) -> Preview:
    return _preview(Article.objects.filter(pk=article_id))


def _preview(articles: QuerySet[Article], more: Iterable[tuple[str, int]] = ()) -> Preview:
    ids = articles.order_by().values("pk")
    numbers = list(articles.order_by().values_list("pk", flat=True))
    [(pairs, evidence, sampled, decisions)] = fetched(_COUNTS_SQL, {"articles": numbers})
    goes = [
        ("articles", articles.count()),
        ("URLs", _of(ArticleURL, ids) + _of(DeclaredURL, ids)),
        ("other headlines", _of(HeadlineVariant, ids)),
        ("kept pages", _of(ArticlePage, ids)),
        ("later versions", _of(ArticleRevision, ids)),
        ("attached copies", _of(AttachedCopy, ids)),
        ("pairs", pairs),
        ("evidence", evidence),
        ("pairs of validation samples", sampled),
        ("places in dense groups", _of(GroupMember, ids)),
        *more,
    ]
    changes = [
        ("decisions that become tombstones", decisions),
        ("clusters that lose articles", Cluster.objects.filter(memberships__article__in=ids).distinct().count()),
    ]
    return Preview(*([entry for entry in entries if entry[1]] for entries in (goes, changes)))


def _of(model: type, ids: QuerySet) -> int:  # type: ignore[type-arg]
    return int(model.objects.filter(article__in=ids).count())  # type: ignore[attr-defined]


# -- Beginning --------------------------------------------------------------------------------------------------


def family_of(newspaper: Newspaper) -> list[Newspaper]:
    """Return a newspaper and all that were merged into it, which go with it. Raises RemovalError."""
    if newspaper.merged_into is not None:
        raise RemovalError(
            f"{newspaper} is merged into {newspaper.merged_into}; undo the merge first, or remove {newspaper.current}"
        )
    found = [newspaper]
    for paper in found:
        found += paper.merged_newspapers.all()
    return found


def begin_newspaper(newspaper: Newspaper, *, reason: str, user: Any = None) -> Removal:
    """Log the removal of a newspaper, and let nothing come to it any more. Raises RemovalError."""
    with writing():
        newspaper = Newspaper.objects.select_for_update().get(pk=newspaper.pk)
        family = family_of(newspaper)
        ids = [member.pk for member in family]
        if Removal.objects.filter(state=Removal.State.RUNNING, newspaper_ids__overlap=ids).exists():
            raise RemovalError(f"{newspaper} is being removed already")
        removal = _log(Removal.Kind.NEWSPAPER, newspaper.name, reason, user, newspaper_ids=ids)
        _close(removal, family)
    return removal


def begin_articles(articles: Collection[int], *, reason: str, user: Any = None) -> Removal:
    """Log the removal of articles, and delete their texts. Raises RemovalError."""
    ids = sorted(set(articles))
    if not ids or len(ids) > MAX_ARTICLES:
        raise RemovalError(f"{len(ids):,} articles were named; name 1 to {MAX_ARTICLES}")
    with writing():
        stored = set(Article.objects.filter(pk__in=ids).values_list("pk", flat=True))
        if missing := [id_ for id_ in ids if id_ not in stored]:
            raise RemovalError(f"there is no article {missing[0]}")
        if Removal.objects.filter(state=Removal.State.RUNNING, article_ids__overlap=ids).exists():
            raise RemovalError("one of these articles is being removed already")
        label = f"article {', '.join(map(str, ids))}"[:300]
        removal = _log(Removal.Kind.ARTICLES, label, reason, user, article_ids=ids)
        traces.scrub(traces.traces_of_articles(ids))
        _hide_batch(removal, ids)
    return removal


def _log(kind: Removal.Kind, label: str, reason: str, user: Any, **what: list[int]) -> Removal:
    reason = _checked_reason(reason, of="the removal")
    return Removal.objects.create(kind=kind, label=label, reason=reason, requested_by=user, **what)


def _checked_reason(reason: str, *, of: str) -> str:
    reason = reason.replace("\0", "").strip()
    if not reason:
        raise RemovalError(f"a reason is required; say who asked for {of}, and why")
    if len(reason) > MAX_REASON_CHARACTERS:
        raise RemovalError(f"the reason has {len(reason):,} characters; at most {MAX_REASON_CHARACTERS:,} are allowed")
    return reason


def _close(removal: Removal, family: list[Newspaper]) -> None:
    """Take from newspapers their names, hosts and sources; keep digests of the names."""
    ids = removal.newspaper_ids
    found = traces.traces_of_newspapers(family)
    others = Newspaper.objects.exclude(pk__in=ids)
    aliases = NewspaperAlias.objects.filter(newspaper__in=ids).values_list("alias", flat=True)
    names = {*(newspaper.name for newspaper in family), *(newspaper.host for newspaper in family), *aliases}
    shared = set(others.filter(Q(host__in=names) | Q(name__in=names)).values_list("host", flat=True))
    keep_names(removal, names - shared)
    traces.scrub_log_of(ids)
    traces.scrub(found - shared)
    CrawlSchedule.objects.filter(newspaper__in=ids).delete()
    Crawl.objects.filter(newspaper__in=ids, job__state="waiting").delete()
    NewspaperAlias.objects.filter(newspaper__in=ids).delete()
    Newspaper.collections.through.objects.filter(newspaper__in=ids).delete()
    SitePace.objects.filter(site__in=names - shared).delete()
    for newspaper in family:
        Newspaper.objects.filter(pk=newspaper.pk).update(
            name=f"{PLACEHOLDER} newspaper {newspaper.pk}", host="", crawl=False, feed_urls=[], sitemap_urls=[],
            section_urls=[], article_url_pattern="", title_affixes=[], learnt_affixes=[],
            refused_affixes=[], kept_url_parameters=[],
        )  # fmt: skip


# -- Hiding -----------------------------------------------------------------------------------------------------


def articles_left(removal: Removal) -> Any:
    return Article.objects.filter(Q(pk__in=removal.article_ids) | Q(newspaper__in=removal.newspaper_ids))


def hide(removal: Removal, *, at_most: int | None = None) -> bool:
    """Delete the texts of its articles, batch by batch, of `at_most` articles; return whether none is left."""
    hidden, shown = 0, articles_left(removal).filter(_SHOWN).order_by("pk").values_list("pk", flat=True)
    while at_most is None or hidden < at_most:
        with writing():
            batch = list(shown[:HIDDEN_AT_ONCE])
            if not batch:
                return True
            _hide_batch(removal, batch)
        hidden += len(batch)
    return not shown.exists()


def _hide_batch(removal: Removal, batch: list[int]) -> None:
    for withheld in Withholding.objects.filter(article__in=batch, released_at=None):
        put_back(withheld)  # for its URLs; nobody sees it before this transaction ends
    Withholding.objects.filter(article__in=batch).delete()
    keep_urls(removal, batch)
    blank(batch, PLACEHOLDER)
    traces.scrub_log(Article, batch, change_message="")
    traces.forget_texts(batch, for_good=True)
    _seen(removal)


# -- Removing ---------------------------------------------------------------------------------------------------


def carry_out(removal: Removal, progress: Callable[[int], object] = lambda _articles: None) -> Removal:
    """Do what is left of a removal, and return it as it is then.

    Raises RunActiveError if a run is active, and RemovalError if a crawl of the newspaper is: do it again later. It can
    be killed at any time, and called again.
    """
    removal.refresh_from_db()
    if removal.state == Removal.State.DONE:
        return removal
    hide(removal)
    since = timezone.now() - _CRAWL_SILENCE
    visits = Visit.objects.filter(newspaper__in=removal.newspaper_ids, state=Visit.State.RUNNING, seen_at__gt=since)
    if visits.exists():
        raise RemovalError("a crawl of the newspaper is active; its texts are hidden, and the rest follows after it")
    with run_lock():
        while batch := list(articles_left(removal).order_by("pk").values_list("pk", flat=True)[:REMOVED_AT_ONCE]):
            _remove_batch(removal, batch)
            progress(len(batch))
        _finish(removal)
    refresh_statistics()
    removal.refresh_from_db()
    return removal


_SET_SQL = "SELECT set_config('newsdedup.removal', %(removal)s, true)"
_MERGES_SQL: LiteralString = """
UPDATE articles_newspapermerge AS merge
SET article_ids = left_over.ids
FROM (
    SELECT id, ARRAY(SELECT one FROM unnest(article_ids) AS one WHERE one <> ALL (%(articles)s::bigint[])) AS ids
    FROM articles_newspapermerge WHERE article_ids && %(articles)s::bigint[]
) AS left_over
WHERE left_over.id = merge.id
"""


def _remove_batch(removal: Removal, batch: list[int]) -> None:
    """Remove articles with all that is stored on them, in one transaction."""
    with writing():
        executed(_SET_SQL, {"removal": str(removal.pk)})
        counts = Counter(forget(batch))
        ChangedArticle.objects.filter(article__in=batch).delete()
        executed(_MERGES_SQL, {"articles": batch})
        _, gone = Article.objects.filter(pk__in=batch).delete()
        counts["articles"] += gone.get("articles.Article", 0)
        # The setting must not outlive the batch in a transaction around it.
        executed(_SET_SQL, {"removal": ""})
        _seen(removal, counts)


def _seen(removal: Removal, counts: Counter[str] | None = None) -> None:
    """Note a sign of life, and add to the counts."""
    fresh = Removal.objects.select_for_update().get(pk=removal.pk)
    fresh.counts = dict(Counter(fresh.counts) + (counts or Counter()))
    fresh.seen_at = timezone.now()
    fresh.save(update_fields=["counts", "seen_at"])


def _finish(removal: Removal) -> None:
    """Remove the newspapers themselves, bring up to date what rests on many articles at once, and end the removal."""
    with writing():
        lock_review()
        ids = removal.newspaper_ids
        if ids:
            traces.scrub_log_of(ids)
            Series.objects.filter(Q(newspaper__in=ids) | Q(made_for__in=ids)).delete()
            NewspaperMerge.objects.filter(Q(merged__in=ids) | Q(into__in=ids)).delete()
            Newspaper.objects.filter(pk__in=ids).update(extraction_rule=None, merged_into=None)
            Newspaper.objects.filter(pk__in=ids).delete()
        update_groups()
        if ShingleSample.objects.exists():
            ShingleSample.objects.all().delete()
            complete_samples()
        ShingleCounts.objects.all().delete()
        traces.forget_results()
        Removal.objects.filter(pk=removal.pk).update(state=Removal.State.DONE, finished_at=timezone.now())


def allow_again(removal: Removal, *, user: Any = None) -> int:
    """Let what a removal took be stored again; return how many digests were forgotten. Raises RemovalError."""
    if removal.state != Removal.State.DONE:
        raise RemovalError("the removal is under way; wait until it is done")
    if removal.lifted_at is not None:
        raise RemovalError("the articles are allowed to come again already")
    with writing():
        return lift(removal, lifted_at=timezone.now(), lifted_by=user)


# -- Withholding ------------------------------------------------------------------------------------------------


def withhold(article_id: int, *, reason: str, user: Any = None) -> Withholding:
    """Take an article from all pages and exports until it is released. Raises RemovalError.

    Its texts are moved away, so detection does not use it either; decisions on it stay in force.
    """
    reason = _checked_reason(reason, of="it")
    with writing():
        article = Article.objects.filter(pk=article_id).first()
        if article is None:
            raise RemovalError(f"there is no article {article_id}")
        if article.withheld:
            raise RemovalError(f"article {article_id} is withheld or being removed already")
        made = Withholding.objects.create(article=article, reason=reason, withheld_by=user)
        take_away(made)
        traces.forget_texts([article_id], for_good=False)
        traces.forget_results()
    return made


def release(article_id: int, *, user: Any = None) -> Withholding:
    """Show an article again, exactly as it was; the next run finds its pairs again. Raises RemovalError."""
    with writing():
        found = Withholding.objects.filter(article=article_id, released_at=None).first()
        if found is None:
            raise RemovalError(f"article {article_id} is not withheld")
        put_back(found)
        found.released_at, found.released_by = timezone.now(), user
        found.save(update_fields=["released_at", "released_by"])
        traces.forget_results()
    return found


# -- Jobs -------------------------------------------------------------------------------------------------------

# After a run or a crawl that is in the way; and after a fault, because a removal must come to its end.
_AGAIN = datetime.timedelta(minutes=1)
_AFTER_FAULT = datetime.timedelta(minutes=5)

log = logging.getLogger(__name__)


def removal_job(work: Work) -> None:
    """Carry out a removal; while a run or a crawl is in the way, and after a fault, later."""
    removal = Removal.objects.get(pk=work.job.arguments["removal"])
    try:
        carry_out(removal)
    except (RunActiveError, RemovalError) as error:
        raise JobPostponedError(_AGAIN) from error
    except Exception as error:
        log.exception("%s failed and is taken up again.", removal)
        raise JobPostponedError(_AFTER_FAULT) from error


def take_up_again(job: Job, _reason: str) -> None:
    """Queue a removal again that was given up."""
    if job.state == Job.State.FAILED:
        removal = Removal.objects.get(pk=job.arguments["removal"])
        request_removal(removal, user=job.requested_by, not_before=timezone.now() + _AFTER_FAULT)


def request_removal(removal: Removal, *, user: Any = None, not_before: datetime.datetime | None = None) -> None:
    title, page = str(removal), reverse("removals")
    ask("removal", {"removal": removal.pk}, title=title, user=user, page=page, not_before=not_before)
