"""What others say of removed and withheld articles: words in logs, queues and drafts, and what runs derived of texts.

The next run derives the latter again, from the articles that are shown.
"""

import datetime
import json
from collections.abc import Collection, Iterable
from itertools import islice
from typing import Any, LiteralString, NamedTuple

from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db.models import JSONField, Max, Min, Model, Q, TextField
from django.db.models.functions import Cast
from django_tasks_db.models import DBTaskResult

from articles.files.uploads import opened
from articles.models import (
    Article,
    ArticleURL,
    AttachedCopy,
    ExtractionRule,
    FileImport,
    Job,
    LearntParameter,
    Newspaper,
    RejectedRow,
    RepeatedSentence,
    UploadedPart,
    WhitelistedSentence,
)
from articles.querysets import executed
from articles.storage.audit_log import logged_actions
from articles.storage.boilerplate_marks import logged_key
from crawlers.models import PendingLink, Trial, Visit
from dedup import models
from dedup.corpora import forget_corpora
from dedup.detection.clustering.constraints import lock_review
from dedup.detection.judging.months import MONTHS_AFTER, MONTHS_BEFORE
from dedup.detection.types import Phase
from dedup.reports.computing import not_waited_for
from dedup.review.answers.removed_articles import unpropose

REMOVED = "removed"
# Shorter texts are in many others by chance.
_LEAST_HEADLINE, _LEAST_TEXT, _LEAST_NAME = 12, 20, 6
_TEXT = 80
_CHUNK = 1_000_000


# Instead of a value: the row goes.
_DELETED = object()


class Place(NamedTuple):
    """A column that may quote an article or name a newspaper, and what stands there once it did."""

    model: type[Model]
    field: str
    emptied: Any


PLACES = (
    Place(LogEntry, "object_repr", REMOVED),
    Place(LogEntry, "change_message", ""),
    Place(DBTaskResult, "args_kwargs", {"args": [], "kwargs": {}}),
    Place(DBTaskResult, "return_value", None),
    Place(DBTaskResult, "traceback", ""),
    Place(Job, "arguments", {}),
    Place(Job, "title", REMOVED),
    Place(Job, "page", ""),
    Place(Job, "result", None),
    Place(Job, "error", ""),
    Place(RejectedRow, "raw", ""),
    Place(RejectedRow, "reason", REMOVED),
    Place(LearntParameter, "first_url", ""),
    Place(LearntParameter, "second_url", ""),
    Place(Visit, "failures", []),
    Place(models.DetectionRun, "error", ""),
    Place(models.Lesson, "result", {}),
    Place(models.Delivery, "body", ""),
    Place(models.Delivery, "answer", ""),
    Place(models.SavedView, "query", ""),
    Place(models.Batch, "query", ""),
    Place(models.PageFetch, "url", _DELETED),
    Place(PendingLink, "url", _DELETED),
    # A trial of a newspaper fetches the texts of ten articles.
    *(Place(Trial, field, _DELETED) for field in ("url", "found", "draft", "results")),
)


def traces_of_articles(articles: Collection[int]) -> set[str]:
    """Return texts by which these few articles are recognised: URLs, headlines, the beginning of the text."""
    found = set(ArticleURL.objects.filter(article__in=articles).values_list("url", flat=True))
    columns = ("url", "headline", "content")
    copies = AttachedCopy.objects.filter(article__in=articles).values_list(*columns)
    for url, headline, content in (*Article.objects.filter(pk__in=articles).values_list(*columns), *copies):
        found |= {url, *(text for text in (headline,) if len(text) >= _LEAST_HEADLINE)}
        lines = (line[:_TEXT] for line in content.splitlines() if len(line) >= _LEAST_TEXT)
        found |= set(islice(lines, 1))
    return found - {""}


def traces_of_newspapers(newspapers: Iterable[Newspaper]) -> set[str]:
    """Return the names and hosts of these newspapers that are long enough to recognise them."""
    found = set()
    for newspaper in newspapers:
        found |= {newspaper.name, newspaper.host, *newspaper.aliases.values_list("alias", flat=True)}
    return {name for name in found if len(name) >= _LEAST_NAME}


def scrub(traces: Collection[str]) -> None:
    """Empty every value outside the articles' own tables that has one of these texts; such files and sessions go."""
    forget_results()
    if not traces:
        return
    # As JSON, a text is spelled with escapes.
    spelled = {*traces, *(json.dumps(trace, ensure_ascii=False)[1:-1] for trace in traces)}
    for place in PLACES:
        _empty(place, spelled)
    _scrub_previews(spelled)
    wanted = [name.encode() for name in spelled]
    # Uploaded files are kept until they are imported.
    for kept in FileImport.objects.filter(pk__in=UploadedPart.objects.values("file_import").distinct()):
        if _has_any(kept, wanted, max(map(len, wanted))):
            kept.parts.all().delete()
    for session in Session.objects.iterator():
        # It may quote one in a note that was refused.
        said = json.dumps(session.get_decoded(), ensure_ascii=False, default=str)
        if any(name in said for name in spelled):
            session.delete()


def forget_results() -> None:
    """Delete the kept results of reports, which list headlines, and the files of corpora; all can be made again."""
    forget_corpora("An article was removed, withheld or released meanwhile; start it again.")
    not_waited_for().delete()
    models.StoredReport.objects.update(result="", shown=None)


def scrub_log_of(newspaper_ids: Collection[int]) -> None:
    """Take names and texts from the log of what users did to these newspapers, their series, rules and sentences."""
    for model in (models.Series, WhitelistedSentence, ExtractionRule):
        scrub_log(model, model.objects.filter(newspaper__in=newspaper_ids).values_list("pk", flat=True))
    scrub_log(Newspaper, newspaper_ids)
    for number in newspaper_ids:
        of_sentences = logged_actions(WhitelistedSentence, object_id__startswith=logged_key(number, ""))
        of_sentences.update(object_repr=REMOVED)


def scrub_log(model: type[Model], numbers: Iterable[int], **others: str) -> None:
    """Take names and texts from the log of what users did to these rows; `others` are further columns to set."""
    entries = logged_actions(model, object_id__in=[str(number) for number in numbers])
    entries.update(object_repr=REMOVED, **others)


def _any(field: str, traces: Collection[str]) -> Q:
    found = Q()
    for trace in traces:
        found |= Q(**{f"{field}__contains": trace})
    return found


def _empty(place: Place, spelled: Collection[str]) -> None:
    rows = place.model.objects.all()  # type: ignore[attr-defined]
    field = place.field
    if isinstance(place.model._meta.get_field(field), JSONField):  # noqa: SLF001 - documented, despite its name
        rows, field = rows.annotate(spelled=Cast(place.field, TextField())), "spelled"
    found = list(rows.filter(_any(field, spelled)).values_list("pk", flat=True))
    if place.emptied is _DELETED:
        rows.filter(pk__in=found).delete()
    else:
        rows.filter(pk__in=found).update(**{place.field: place.emptied})


def _scrub_previews(spelled: Collection[str]) -> None:
    rows = FileImport.objects.annotate(spelled=Cast("preview", TextField()))
    for kept in rows.filter(_any("spelled", spelled) | _any("name", spelled) | _any("newspaper", spelled)):
        kept.preview |= {"rows": [], "rejects": [], "reasons": []}
        if any(name in kept.name for name in spelled):
            kept.name = REMOVED
        if any(name in kept.newspaper for name in spelled):
            kept.newspaper = ""
        kept.save(update_fields=["preview", "name", "newspaper"])


def _has_any(kept: FileImport, wanted: Collection[bytes], longest: int) -> bool:
    before = b""
    try:
        with opened(kept) as (stream, _):
            while chunk := stream.read(_CHUNK):
                before = before[-longest:] + chunk
                if any(name in before for name in wanted):
                    return True
    except (OSError, EOFError):
        return True  # a file that cannot be read is of no use, and may have them
    return False


# A month is learnt from articles of at most so many days before or after it begins.
_MONTH_DAYS = datetime.timedelta(days=31 * (1 + max(MONTHS_AFTER, MONTHS_BEFORE)))

# A series without an article goes, also one with a rule: its form is made of their headlines. If the articles are only
# withheld, one with a rule stays.
_NO_SERIES_SQL: LiteralString = """
DELETE FROM dedup_series AS series
USING unnest(%(newspapers)s::bigint[], %(forms)s::text[]) AS wanted (newspaper_id, form)
WHERE series.newspaper_id = wanted.newspaper_id AND md5(series.form) = md5(wanted.form) AND series.form = wanted.form
  AND (series.ruled_at IS NULL OR %(for_good)s)
  AND NOT EXISTS (
    SELECT FROM dedup_headlineform AS form
    WHERE form.newspaper_id = series.newspaper_id AND md5(form.form) = md5(series.form) AND form.form = series.form
)
"""
_SERIES_SQL: LiteralString = """
UPDATE dedup_series AS series
SET headline = coalesce(latest.headline, ''), articles = coalesce(latest.articles, 0), days = coalesce(latest.days, 0),
    first_day = coalesce(latest.first_day, series.first_day), last_day = coalesce(latest.last_day, series.last_day)
FROM unnest(%(newspapers)s::bigint[], %(forms)s::text[]) AS wanted (newspaper_id, form)
LEFT JOIN LATERAL (
    SELECT count(*) AS articles, count(DISTINCT form.date) AS days,
        min(form.date) AS first_day, max(form.date) AS last_day,
        (array_agg(article.headline ORDER BY form.date DESC, form.article_id DESC))[1] AS headline
    FROM dedup_headlineform AS form
    JOIN articles_article AS article ON article.id = form.article_id
    WHERE form.newspaper_id = wanted.newspaper_id AND md5(form.form) = md5(wanted.form) AND form.form = wanted.form
) AS latest ON true
WHERE series.newspaper_id = wanted.newspaper_id AND md5(series.form) = md5(wanted.form) AND series.form = wanted.form
"""


def forget_texts(articles: Collection[int], *, for_good: bool) -> None:
    """Take these articles, whose texts are gone, from all that runs derived of them; inside ingest.writing().

    Unless they are gone `for_good`, what editors ruled about their headlines and sentences stays.
    """
    lock_review()
    of_series = models.HeadlineForm.objects.filter(article__in=articles).exclude(form="")
    forms = set(of_series.values_list("newspaper", "form"))
    unpropose(articles)
    values: dict[str, Any] = {"newspapers": [one for one, _ in forms], "forms": [form for _, form in forms]}
    values["for_good"] = for_good
    executed(_NO_SERIES_SQL, values)
    executed(_SERIES_SQL, values)
    models.Watermark.objects.filter(name=Phase.SERIES).delete()
    _forget_sentences(articles, for_good=for_good)
    _forget_months(articles)


def _forget_sentences(articles: Collection[int], *, for_good: bool) -> None:
    """Delete repeated sentences as these articles have them; the next run finds those of other articles again."""
    newspapers = set(Article.objects.filter(pk__in=articles).values_list("newspaper", flat=True))
    repeated = RepeatedSentence.objects.filter(newspaper__in=newspapers, article_ids__overlap=list(articles))
    found = set(repeated.values_list("newspaper", "digest"))
    repeated.delete()
    others = RepeatedSentence.objects.filter(digest__in={digest for _, digest in found})
    left = set(others.values_list("newspaper", "digest"))
    for newspaper, digest in found - left if for_good else ():
        WhitelistedSentence.objects.filter(newspaper=newspaper, digest=digest).delete()


def _forget_months(articles: Collection[int]) -> None:
    stored = Article.objects.filter(pk__in=articles)
    for row in stored.order_by().values("newspaper").annotate(first=Min("date"), last=Max("date")):
        around = (row["first"] - _MONTH_DAYS, row["last"] + _MONTH_DAYS)
        models.NewspaperMonth.objects.filter(newspaper=row["newspaper"], month__range=around).delete()
