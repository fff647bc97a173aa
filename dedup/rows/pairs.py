"""Pairs: their columns, the filter and the orders of the queue, and their export."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import django_filters as filters
from django import forms
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.functional import cached_property

from articles.models import Article
from articles.paging import COUNT_CEILING, DEAR_CEILING
from articles.querysets import given, texts_of
from dedup.detection.passes import PASSES
from dedup.models import DenseGroup, Evidence, Pair, Series
from dedup.models.base import read_rows
from dedup.models.pairs import PairQuerySet
from dedup.review.answers.decisions import decisions_on
from dedup.review.queries.articles import matching
from dedup.review.queries.lists import ANY, MOST_IDS, UNJUDGED, VERDICTS, IdArray, IsAnyOf, PairSelection, ids_of
from dedup.review.queries.series_and_groups import members_of
from dedup.rows.articles import ARTICLE
from dedup.rows.columns import Column, ColumnType, Filter, Place, Rows
from dedup.rows.files import Export, in_batches
from dedup.rows.filtering import (
    DayInput,
    ListFilter,
    SearchFilter,
    Unit,
    filters_of,
    newspaper_filter,
    read_together,
)

# What editors said last about these pairs themselves, from the index link_latest.
_DECIDED_SQL = """
SELECT asked.id, decision.id, editor.username, decision.decided_at
FROM dedup_pair AS asked
CROSS JOIN LATERAL (
    SELECT standing.decision_id FROM dedup_standing_link AS standing
    WHERE standing.left_id = asked.left_id AND standing.right_id = asked.right_id AND standing.state IS NOT NULL
) AS link
JOIN dedup_decision AS decision ON decision.id = link.decision_id
JOIN auth_user AS editor ON editor.id = decision.decided_by_id
WHERE asked.id = ANY (%(pairs)s)
"""

MOST_IDS_OF_TWO = 4 * MOST_IDS


def _of(side: str, name: str) -> Callable[[Pair], float | None]:
    """Return what reads a number of an article of a pair as it is shown."""
    return lambda pair: getattr(pair, f"left_{name}" if getattr(pair, side) == pair.left else f"right_{name}")


def _current(pair: Pair) -> list[Evidence]:
    return sorted((found for found in pair.evidence.all() if not found.stale), key=lambda found: found.pass_name)


EVIDENCE = Rows(
    "What a pass found about a pair.",
    (Column("pass_name"), Column("score")),
    model=Evidence,
)
_OF_EACH = (
    ("matched", ColumnType.SHARE, "The share of the {side} article's words that the {other} one has."),
    ("own", ColumnType.COUNT, "How many words of the {side} article the {other} one lacks."),
)
_SIDES = (("left", "right", "earlier"), ("right", "left", "later"))
PAIR = Rows(
    "Two articles that a pass has proposed as a pair.",
    (
        Column("id", "number of the pair", file="pair"),
        Column(
            "left",
            "left article",
            help="The article published first; of one day and time, the one stored first.",
            of=ARTICLE,
            source="earlier",
        ),
        Column("right", "right article", of=ARTICLE, source="later"),
        Column("state", filters=(Filter(places=Place.ROW),)),
        Column("implied"),
        Column(
            "verdict",
            help="What the full comparison calls the pair; null: not compared yet.",
            optional=True,
            filters=(Filter(places=Place.ROW),),
        ),
        Column(
            "relation",
            help="What the two articles are to each other; null: not compared yet.",
            optional=True,
            filters=(Filter(everything="any relation"),),
        ),
        Column("relation_probability", places=Place.FULL | Place.FILE),
        Column(
            "article",
            type=ColumnType.INTEGER,
            filters=(Filter(help="Pairs with this article.", where=lambda number: Q(left=number) | Q(right=number)),),
            places=Place(0),
        ),
        Column("probability"),
        Column(
            "duplicate_probability",
            filters=(
                Filter("probability_from", "gte", help="As probably duplicates as this, or more.", places=Place.ROW),
            ),
        ),
        Column("best_score", places=Place.ROW),
        Column(
            "scores",
            type=ColumnType.OBJECT,
            help="The score of each pass that proposes the pair, 0 to 1.",
            places=Place.FILE,
        ),
        Column("days_apart", "days between the two"),
        Column(
            "same_newspaper", filters=(Filter("same", everything="yes or no", places=Place.PAGE),), places=Place.ROW
        ),
        Column("reasons", type=ColumnType.TEXTS, places=Place.FULL),
        *(
            Column(
                f"{side}_{name}",
                type=column_type,
                help=words.format(side=side, other=other),
                source=_of(end, name),
                optional=True,
                places=Place.FULL | Place.FILE,
            )
            for name, column_type, words in _OF_EACH
            for side, other, end in _SIDES
        ),
        Column(
            "new_text",
            help="Where most of the longer article's own words stand: head, middle or tail; null: it has none.",
            optional=True,
            places=Place.FULL | Place.FILE,
        ),
        Column("quoted", type=ColumnType.SHARE, places=Place.FULL | Place.FILE),
        Column("evidence", of=EVIDENCE, many=True, source=_current, places=Place.FULL),
        Column(
            "decision",
            type=ColumnType.INTEGER,
            help="The latest decision on it.",
            source=lambda pair: decisions_on(pair).order_by("-pk").values_list("pk", flat=True).first(),
            optional=True,
            places=Place.FULL,
        ),
        Column(
            "in_force",
            "number of the decision on this pair that is in force",
            ColumnType.INTEGER,
            file="decision",
            places=Place.FILE,
        ),
        Column("decided_by", "who made it", places=Place.FILE),
        Column("decided_at", "when", ColumnType.MOMENT, places=Place.FILE),
    ),
    file_first=("id", "left", "right", "days_apart", "verdict", "probability", "duplicate_probability", "scores"),
    model=Pair,
)
# Orderings by probability, which list only pairs that have one.
BY_PROBABILITY = ("", "doubt")
ORDERINGS = {
    "": ("most probable first", ("-duplicate_probability", "id")),
    "doubt": ("most doubtful first", ("doubt", "id")),
    "-score": ("highest score first", ("-best_score", "-id")),
    "score": ("lowest score first", ("best_score", "id")),
    "-date": ("newest first", ("-left__date", "-id")),
    "date": ("oldest first", ("left__date", "id")),
}


def _score(label: str) -> filters.NumberFilter:
    widget = forms.NumberInput(attrs={"min": 0, "max": 1, "step": "any", "placeholder": "0 … 1"})
    return filters.NumberFilter(method=read_together, label=label, min_value=0, max_value=1, widget=widget)


@filters_of(PAIR, after="other")
class PairFilter(ListFilter):
    """Filters and orders the pairs of the queue."""

    verdict = filters.ChoiceFilter(
        method=read_together,
        choices=[(value, label) for value, (label, _) in VERDICTS.items() if value],
        label="Verdict",
        empty_label=VERDICTS[""][0],
    )
    pass_name = filters.ChoiceFilter(method=read_together, label="Pass", empty_label="any pass")
    score_from = _score("Score from")
    score_to = _score("Score to")
    newspaper = newspaper_filter(method=read_together)
    other = newspaper_filter("Other newspaper", method=read_together)
    date_from = filters.DateFilter(method=read_together, label="Published from", widget=DayInput())
    date_to = filters.DateFilter(method=read_together, label="Published to", widget=DayInput())
    q = SearchFilter(method=read_together, label="Words of an article")
    state = filters.ChoiceFilter(
        method=read_together, choices=[*Pair.DECIDED, (ANY, "any")], label="State", empty_label="waiting for a decision"
    )
    sort = filters.ChoiceFilter(
        method=read_together,
        choices=[(value, label) for value, (label, _) in ORDERINGS.items() if value],
        label="Order",
        empty_label=ORDERINGS[""][0],
    )

    # Set by links on the page of a series or of a dense group; the queue then names it.
    series = filters.ModelChoiceFilter(
        method=lambda pairs, _name, series: pairs.among(members_of(series)),
        queryset=Series.objects.all(),
        label="Series",
        widget=forms.HiddenInput(),
    )
    group = filters.ModelChoiceFilter(
        method=lambda pairs, _name, group: pairs.in_group(group.pk),
        queryset=DenseGroup.objects.all(),
        label="Group",
        widget=forms.HiddenInput(),
    )

    def __init__(self, data: Any) -> None:
        if data and (words := data.get("headline")):  # an address of before there was a search
            data = {**dict(data.items()), "q": f'headline:"{words.replace(chr(34), " ")}"'}
        super().__init__(data, Pair.objects.with_doubt())
        fields = self.form.fields
        # Both fields have the same choices, which are read once, when the first of them is shown.
        papers = cache(lambda: list(fields["newspaper"].choices))
        fields["other"].widget.choices = fields["newspaper"].widget.choices = papers
        passes = [(detection_pass.name, detection_pass.label) for detection_pass in PASSES.values()]
        fields["pass_name"].choices = [("", "any pass"), *passes]

    @property
    def ordering(self) -> tuple[str, ...]:
        """The fields that the chosen order sorts by."""
        return ORDERINGS[self._sort][1]

    @property
    def hidden_unjudged(self) -> PairQuerySet:
        """The pairs that would be listed if they had a verdict."""
        if (self.values().get("verdict") or "") not in ("", ANY) or self._sort not in BY_PROBABILITY:
            return Pair.objects.none()
        return self._bounded(self.queryset.filter(duplicate_probability=None))

    @property
    def selection(self) -> PairSelection | None:
        """The pairs to which the filter limits questions; None if it does not."""
        values = self.values()
        if not any(value not in (None, "") for name, value in values.items() if name != "sort"):
            return None
        pairs = Pair.objects.filter(VERDICTS[values["verdict"]][1]) if values.get("verdict") else Pair.objects.all()
        if values.get("state"):
            pairs = _in_state(pairs, values["state"])
        pairs, few = self._published_and_scored(pairs), self._few
        if few is not None and (values.get("verdict") or values.get("state")):
            few = IdArray(pairs.order_by().values_list("pk", flat=True))
        return PairSelection(pairs, few)

    @property
    def ceiling(self) -> int:
        """Up to how many pairs are counted: fewer if their articles or evidence have to be looked up."""
        values = self.values()
        looked_up = any(values.get(name) for name in ("newspaper", "other", "date_from", "date_to", "q"))
        dear = self._few is None and (looked_up or values.get("pass_name"))
        return DEAR_CEILING if dear else COUNT_CEILING

    @property
    def _sort(self) -> str:
        values = self.values()
        sort: str = values.get("sort") or ""
        return "-score" if values.get("verdict") == UNJUDGED and sort in BY_PROBABILITY else sort

    def filter_queryset(self, queryset: PairQuerySet) -> PairQuerySet:
        """Return the pairs that match, unordered."""
        queryset = queryset.filter(VERDICTS[self.form.cleaned_data.get("verdict") or ""][1])
        if self._sort in BY_PROBABILITY:
            queryset = queryset.filter(duplicate_probability__isnull=False)
        return self._bounded(queryset)

    def _bounded(self, queryset: PairQuerySet) -> PairQuerySet:
        """Apply every field except the verdict."""
        return self._published_and_scored(_in_state(queryset, self.values().get("state")))

    def _published_and_scored(self, queryset: PairQuerySet) -> PairQuerySet:
        """Apply every field except the verdict and the state."""
        if self._few is not None:
            return queryset.filter(IsAnyOf("pk", self._few))
        return self._scored(self._of_articles(queryset))

    def _scored(self, pairs: PairQuerySet) -> PairQuerySet:
        """Apply every field except the verdict, the state and those about the articles.

        The scores bound the best one or, if a pass is chosen, that of the pass.
        """
        pairs, values = super().filter_queryset(pairs), self.values()
        pass_name = values.get("pass_name")
        field = "score" if pass_name else "best_score"
        bounds = given(**{f"{field}__gte": values.get("score_from"), f"{field}__lte": values.get("score_to")})
        if not pass_name:
            return pairs.filter(bounds)
        found = Evidence.objects.filter(bounds, pair=OuterRef("pk"), pass_name=pass_name, stale=False)
        return pairs.filter(Exists(found))

    def _of_articles(self, pairs: PairQuerySet, but: str = "") -> PairQuerySet:
        """Apply the fields that are about the articles; those of `but` are applied already."""
        values = self.values()
        if but != "newspapers":
            pairs = _between(pairs, values.get("newspaper"), values.get("other"))
        if but != "days":
            days = [
                given(**{f"{side}__date__gte": values.get("date_from"), f"{side}__date__lte": values.get("date_to")})
                for side in ("left", "right")
            ]
            pairs = pairs.filter(days[0] | days[1])
        if but != "words" and (words := self._with_words) is not None:
            has_one = (Exists(words.filter(pk=OuterRef(side))) for side in ("left", "right"))
            pairs = pairs.filter(next(has_one) | next(has_one))
        return pairs

    @cached_property
    def _with_words(self) -> QuerySet[Article] | None:
        """The articles that the search leaves; None: all."""
        words = self.values().get("q")
        return matching(Article.objects.all(), words) if words else None

    @cached_property
    def _few(self) -> IdArray | None:
        """The pairs that match every field except the verdict and the state; None if each field may leave many."""
        values = self.values()
        bounds = given(date__gte=values.get("date_from"), date__lte=values.get("date_to"))
        days = Article.objects.filter(bounds) if bounds else None
        for name, articles in (("words", self._with_words), ("days", days)):
            ends = None if articles is None else ids_of(articles)
            if ends is not None:
                return self._numbers_of(Pair.objects.filter(_has_one_of(ends)), but=name)
        between = _few_between(values.get("newspaper"), values.get("other"))
        if between is not None:
            return self._numbers_of(between, but="newspapers")
        found = given(pass_name=values.get("pass_name") or None)
        found_by = ids_of(Evidence.objects.filter(found, stale=False), "pair") if found else None
        return None if found_by is None else self._numbers_of(Pair.objects.filter(IsAnyOf("pk", found_by)))

    def _numbers_of(self, pairs: PairQuerySet, but: str = "") -> IdArray | None:
        return ids_of(self._scored(self._of_articles(pairs, but)).order_by(), most=MOST_IDS_OF_TWO)


def _in_state(pairs: PairQuerySet, state: str | None) -> PairQuerySet:
    if not state:
        return pairs.in_queue()
    return pairs if state == ANY else pairs.filter(state=state)


def _between(pairs: PairQuerySet, one: Unit | None, other: Unit | None) -> PairQuerySet:
    """Return the pairs with an article of each unit that is given; with both of one, if they are the same."""
    one_way = given(left__newspaper__in=one, right__newspaper__in=other)
    return pairs.filter(one_way | given(left__newspaper__in=other, right__newspaper__in=one))


def _few_between(one: Unit | None, other: Unit | None) -> PairQuerySet | None:
    """Return what _between returns if one of the units has few articles, else None."""
    chosen = {unit for unit in (one, other) if unit is not None}
    # Two newspapers have few pairs, even if each has many articles.
    most = MOST_IDS_OF_TWO if one and other else MOST_IDS
    known = [ids_of(Article.objects.filter(newspaper__in=unit), most=most) for unit in chosen]
    few = [ends for ends in known if ends is not None]
    if not few:
        return None
    if one == other:
        return Pair.objects.filter(IsAnyOf("left", few[0]), IsAnyOf("right", few[0]))
    pairs = Pair.objects.filter(*map(_has_one_of, few))
    # Without a newspaper that is of both units, a pair with an article of each has no other.
    is_whole = len(few) == len(chosen) and (not one or not other or one.isdisjoint(other))
    return pairs if is_whole else _between(pairs, one, other)


def _has_one_of(articles: IdArray) -> Q:
    return Q(IsAnyOf("left", articles) | IsAnyOf("right", articles))


def _with_decisions(pairs: QuerySet[Any]) -> Iterator[Pair]:
    full = Pair.objects.select_related("left__newspaper", "right__newspaper")
    full = full.defer("reasons", *texts_of("left", "right"))
    # By subquery: what only the list needs, such as how doubtful a pair is, is not computed for every row.
    for batch in in_batches(full.filter(pk__in=pairs.order_by().values("pk")).order_by("pk")):
        scores: defaultdict[int, dict[str, float]] = defaultdict(dict)
        current = Evidence.objects.filter(pair__in=batch, stale=False).order_by("pass_name")
        for number, name, score in current.values_list("pair", "pass_name", "score"):
            scores[number][name] = score
        decided = _decided(batch)
        for pair in batch:
            decision, editor, moment = decided.get(pair.pk, (None, None, None))
            vars(pair).update(scores=scores[pair.pk], in_force=decision, decided_by=editor, decided_at=moment)
            yield pair


def _decided(batch: Sequence[Any]) -> dict[int, tuple[Any, Any, Any]]:
    """Return the decision in force on each pair that has one, with its editor and its moment."""
    asked = [pair.pk for pair in batch if pair.state != Pair.State.UNDECIDED and not pair.implied]
    rows = read_rows(_DECIDED_SQL, pairs=asked) if asked else []
    return {pair: tuple(decided) for pair, *decided in rows}


PAIRS = Export("pairs", "pairs of articles with their verdicts and decisions", PAIR, _with_decisions, PairFilter)
