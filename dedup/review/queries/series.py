"""The page of a series: its articles and pairs; and the series of an article."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.admin.models import LogEntry
from django.db.models import Count, Exists, OuterRef, QuerySet, Value
from django.db.models.functions import MD5

from articles.models import Article
from articles.querysets import ArticleQuerySet
from articles.storage.audit_log import logged_actions
from dedup.answers import Answer
from dedup.detection.comparison.recurring import usual_gap
from dedup.models import HeadlineForm, Pair, Series
from dedup.review.queries.pairs import VERDICTS, count_by_verdict, most_probable

PAIRS_SHOWN = 10
# A rule is offered when editors have called so many pairs of a series templates, and none duplicates or versions.
TEMPLATES_FOR_A_RULE = 3


@dataclass(frozen=True)
class SeriesDetails:
    """What the page of a series shows: its usual gap in days (0 for none), its pairs, and the history of its rule."""

    gap: int
    verdicts: list[tuple[str, str, int]]  # value, label and number of pairs of each verdict, in the order of the form
    pairs: QuerySet[Pair]
    history: QuerySet[LogEntry]
    answered_templates: int  # pairs, if that is reason enough to offer a rule; else 0
    pairs_shown: int = PAIRS_SHOWN


def series_details(series: Series) -> SeriesDetails:
    """Return what the page of a series shows besides its articles."""
    pairs = Pair.objects.proposed().among(members_of(series))
    counts = count_by_verdict(pairs)
    days = articles_of(series).order_by("date").values_list("date", flat=True).distinct()
    return SeriesDetails(
        gap=usual_gap(list(days)),
        verdicts=[(name, label, counts[name]) for name, (label, _) in VERDICTS.items() if name in counts],
        pairs=most_probable(pairs, PAIRS_SHOWN),
        history=logged_actions(Series, str(series.pk)),
        answered_templates=templates_for_a_rule(series),
    )


def templates_for_a_rule(series: Series) -> int:
    """Return how many pairs of a series editors called templates, if that is reason to offer a rule; else 0."""
    if series.ruled_at:
        return 0
    answers = Pair.objects.among(members_of(series)).exclude(state=Pair.State.UNDECIDED)
    counts = dict(answers.order_by().values_list("state").annotate(Count("pk")))
    templates: int = counts.get(Answer.TEMPLATE.state, 0)
    spoken_against = counts.keys() & {Answer.CONFIRM.state, Answer.VERSION.state}
    return templates if templates >= TEMPLATES_FOR_A_RULE and not spoken_against else 0


def articles_of(series: Series) -> ArticleQuerySet:
    """Return the articles of a series, the latest first, without their long texts."""
    articles = Article.objects.filter(Exists(_forms_of(series).filter(article=OuterRef("pk"))))
    return articles.without_texts().select_related("membership").order_by("-date", "-id")


def members_of(series: Series) -> QuerySet[Any]:
    """Return the ids of the articles of a series, for a subquery."""
    return _forms_of(series).values("article")


def series_of_article(article: Article) -> Series | None:
    """Return the series that an article belongs to."""
    form = HeadlineForm.objects.filter(pk=article.pk).exclude(form="").first()
    if form is None:
        return None
    return Series.objects.filter(newspaper=form.newspaper_id, form=form.form).first()


def series_of_both(left: Article, right: Article) -> Series | None:
    """Return the series that both articles belong to."""
    if left.newspaper_id != right.newspaper_id:
        return None
    form = HeadlineForm.objects.filter(article=right).values("form")
    shared = HeadlineForm.objects.filter(article=left, form__in=form).values("form")
    return Series.objects.filter(newspaper=left.newspaper_id, form__in=shared).first()


def _forms_of(series: Series) -> QuerySet[HeadlineForm]:
    # The index headline_form is on the digest.
    forms = HeadlineForm.objects.annotate(digest=MD5("form")).filter(digest=MD5(Value(series.form)))
    return forms.filter(newspaper=series.newspaper_id, form=series.form)
