"""Series and dense groups: their lists, the page of each, and those of an article."""

from collections.abc import Collection
from typing import Any, LiteralString

from django.db.models import Count, Exists, Max, OuterRef, QuerySet, Value
from django.db.models.functions import MD5

from articles.models import Article
from articles.querysets import ArticleQuerySet, texts_of
from articles.storage.audit_log import logged_actions
from dedup.answers import Answer
from dedup.detection.comparison.recurring import usual_gap
from dedup.detection.runs.facts import label
from dedup.models import Cluster, CrowdedArticle, Decision, DenseGroup, GroupMember, HeadlineForm, Pair, Series
from dedup.models.base import read_rows
from dedup.review.answers.history import with_actors
from dedup.review.queries.lists import VERDICTS, count_by_verdict, most_probable

PAIRS_SHOWN = 10
# A rule is offered when editors have called so many pairs of a series templates, and none duplicates or versions.
TEMPLATES_FOR_A_RULE = 3


def series_details(series: Series) -> dict[str, Any]:
    """Return what the page of a series shows besides its articles."""
    pairs = Pair.objects.proposed().among(members_of(series))
    counts = count_by_verdict(pairs)
    days = articles_of(series).order_by("date").values_list("date", flat=True).distinct()
    return {
        "gap": usual_gap(list(days)),  # the usual one in days, 0 for none
        "verdicts": [(name, label, counts[name]) for name, (label, _) in VERDICTS.items() if name in counts],
        "pairs": most_probable(pairs, PAIRS_SHOWN),
        "history": logged_actions(Series, object_id=series.pk),
        "answered_templates": templates_for_a_rule(series),
        "pairs_shown": PAIRS_SHOWN,
    }


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


# The series of two articles of one newspaper whose headlines have the same form. From the index one_row_a_series.
SERIES_OF_BOTH_SQL: LiteralString = """
SELECT series.id
FROM articles_article AS one
JOIN articles_article AS other ON other.newspaper_id = one.newspaper_id AND other.id = %(right)s
JOIN dedup_headlineform AS form ON form.article_id = one.id
JOIN dedup_headlineform AS same ON same.article_id = other.id AND same.form = form.form
JOIN dedup_series AS series
    ON series.newspaper_id = one.newspaper_id AND md5(series.form) = md5(form.form) AND series.form = form.form
WHERE one.id = %(left)s
"""


def series_of_both(left: Article, right: Article) -> Series | None:
    """Return the series that both articles belong to."""
    found = read_rows(SERIES_OF_BOTH_SQL, left=left.pk, right=right.pk)
    return Series.objects.get(pk=found[0][0]) if found else None


def _forms_of(series: Series) -> QuerySet[HeadlineForm]:
    # The index headline_form is on the digest.
    forms = HeadlineForm.objects.annotate(digest=MD5("form")).filter(digest=MD5(Value(series.form)))
    return forms.filter(newspaper=series.newspaper_id, form=series.form)


CLUSTERS_SHOWN = 5
NEWSPAPERS_SHOWN = 5

_KEPT_PAIRS_SQL = """
SELECT evidence.pass_name, count(*)
FROM dedup_groupmember AS left_member
JOIN dedup_pair AS pair ON pair.left_id = left_member.article_id
JOIN dedup_groupmember AS right_member
    ON right_member.article_id = pair.right_id AND right_member.group_id = left_member.group_id
JOIN dedup_evidence AS evidence ON evidence.pair_id = pair.id AND NOT evidence.stale
WHERE left_member.group_id = %(group)s
GROUP BY evidence.pass_name
"""


def listed_groups() -> QuerySet[DenseGroup]:
    """Return all groups with their first article, without its long texts."""
    return DenseGroup.objects.select_related("first__newspaper").defer(*texts_of("first"))


def confirmed_among(groups: Collection[DenseGroup]) -> set[int]:
    """Return the ids of those groups that a decision in force confirmed."""
    found = Decision.objects.group_confirmations([group.pk for group in groups])
    return {number for number in found.values_list("group_number", flat=True) if number is not None}


def group_details(group: DenseGroup) -> dict[str, Any]:
    """Return what the page of a dense group shows besides its articles."""
    pairs = Pair.objects.proposed().in_group(group.pk)
    counts = count_by_verdict(pairs)
    members = GroupMember.objects.filter(group=group).order_by()
    newspapers = members.values_list("article__newspaper__name").annotate(number=Count("pk"))
    clusters = Cluster.objects.with_kept().filter(memberships__article__group_member__group=group)
    counted = clusters.annotate(inside=Count("memberships")).order_by("-inside", "pk")
    return {
        "cuts": _cuts(group),
        "newspapers": list(newspapers.order_by("-number", "article__newspaper__name")[:NEWSPAPERS_SHOWN]),
        "newspapers_left_out": max(group.newspapers - NEWSPAPERS_SHOWN, 0),
        "clusters": counted[:CLUSTERS_SHOWN],
        "cluster_number": clusters.distinct().count(),
        "clustered": members.filter(article__membership__isnull=False).count(),  # articles in clusters
        "verdicts": [(name, text, counts[name]) for name, (text, _) in VERDICTS.items() if name in counts],
        "compared": sum(counts.values()),
        "pairs": most_probable(pairs, PAIRS_SHOWN),
        "confirmed": Decision.objects.group_confirmations([group.pk]).first(),
        "decisions": with_actors(Decision.objects.filter(group_number=group.pk)),
        "pairs_shown": PAIRS_SHOWN,
    }


def _cuts(group: DenseGroup) -> list[tuple[str, int, int, int]]:
    """Return what each pass kept that found articles of the group to be hubs, in order of their names.

    That is its label, how many of the articles are hubs, how many others one of them is like, and the pairs.
    """
    hubs = CrowdedArticle.objects.filter(article__group_member__group=group).order_by().values_list("pass_name")
    kept = dict(read_rows(_KEPT_PAIRS_SQL, group=group.pk))
    return [
        (label(name), articles, near, kept.get(name, 0))
        for name, articles, near in sorted(hubs.annotate(Count("pk"), Max("near")))
    ]


def members_of_group(group: DenseGroup) -> ArticleQuerySet:
    """Return the articles of a group, the first one first, without their long texts."""
    articles = Article.objects.filter(group_member__group=group).without_texts()
    return articles.select_related("newspaper", "membership").order_by("date", "pk")
