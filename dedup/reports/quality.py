"""Report `quality`: what editors decided and how fast, how well they agree, and how many proposals were right."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import TruncDate

from articles.numbers import counted
from articles.querysets import given
from dedup.answers import PARTED_STATES, Answer
from dedup.detection.article_sql import article_sql
from dedup.detection.passes import PASSES
from dedup.detection.runs.facts import label
from dedup.detection.runs.scope import Scope
from dedup.models import Decision, SecondReading
from dedup.reports.base import Chart, Report, of_both, rows_of
from dedup.reports.columns import Confirmed, Decided, High, Low, Precision, Table, column, drawn, share_of, table
from dedup.reports.drawing import alt, bar_plot, drawn_name, precision_charts, time_axis
from dedup.research.precision import UNKNOWN, precision_of
from dedup.review.answers.history import ANSWERS, LEAST_ANSWERS, LEAST_TIME, ON_CLUSTERS, PAUSE
from dedup.review.readings.second_readings import agreements

# More editors than these have no colour of their own.
MOST_EDITORS_DRAWN = 5

# The decisions that are about an article that does not count.
_OUTSIDE_SQL = article_sql(
    """
SELECT DISTINCT decision.id
FROM dedup_decision AS decision
CROSS JOIN LATERAL unnest(decision.articles) AS about (article_id)
JOIN {articles} AS article ON article.id = about.article_id
WHERE NOT (
    {article.in_scope}
)
""",
    "article",
)
# The pairs on which a decision says by itself whether they are duplicates: counted once for each pass that proposes
# them and once for each of their newspapers. Versions and open answers say neither.
_PRECISION_SQL = article_sql(
    """
WITH decided AS MATERIALIZED (
    SELECT pair.id, pair.state = 'confirmed' AS confirmed, left_article.newspaper_id AS one_id,
        right_article.newspaper_id AS other_id
    FROM dedup_pair AS pair
    {pair.both_articles}
    WHERE (pair.state = 'confirmed' OR pair.state = ANY (%(parted)s)) AND NOT pair.implied AND pair.best_score > 0
      AND {left_article.in_scope} AND {right_article.in_scope}
), of_newspaper AS (
    SELECT decided.id, decided.confirmed, newspaper.name
    FROM decided
    CROSS JOIN LATERAL (SELECT decided.one_id UNION SELECT decided.other_id) AS either (newspaper_id)
    JOIN articles_newspaper AS newspaper ON newspaper.id = either.newspaper_id
)
SELECT '', '', count(*), count(*) FILTER (WHERE confirmed) FROM decided
UNION ALL
SELECT evidence.pass_name, '', count(*), count(*) FILTER (WHERE confirmed)
FROM decided
JOIN dedup_evidence AS evidence ON evidence.pair_id = decided.id AND NOT evidence.stale
GROUP BY evidence.pass_name
UNION ALL
SELECT '', name, count(*), count(*) FILTER (WHERE confirmed) FROM of_newspaper GROUP BY name
UNION ALL
SELECT evidence.pass_name, name, count(*), count(*) FILTER (WHERE confirmed)
FROM of_newspaper
JOIN dedup_evidence AS evidence ON evidence.pair_id = of_newspaper.id AND NOT evidence.stale
GROUP BY evidence.pass_name, name
""",
    "left_article",
    "right_article",
)


@dataclass(frozen=True, slots=True)
class EditorDay:
    """An editor's decisions of a day by what they are about, and how many of them were undone since."""

    day: Annotated[datetime.date, column("Day")]
    editor: Annotated[str, column("Editor")]
    decisions: Annotated[int, column("Decisions")]
    pairs: Annotated[int, column("On pairs")]
    clusters: Annotated[int, column("On clusters")]
    others: Annotated[int, column("Others")]
    undone: Annotated[int, column("Undone since")]


@dataclass(frozen=True, slots=True)
class Pace:
    """An editor's answers, and the hours in which all but the first of each sitting were given.

    `an_hour` is None for fewer than 5 answers or less than a minute.
    """

    editor: Annotated[str, column("Editor")]
    answers: Annotated[int, column("Answers")]
    sittings: Annotated[int, column("Sittings")]
    hours: Annotated[float, column("Hours")]
    an_hour: Annotated[float | None, column("Answers per hour")]


@dataclass(frozen=True, slots=True)
class Readings:
    """How often a second editor gave the first one's answer, with Cohen's kappa and its interval, -1..1."""

    pairs: Annotated[str, column("Pairs", named="of_pairs")]
    readings: Annotated[int, column("Second readings")]
    agreed: Annotated[int, column("Agreed")]
    kappa: Annotated[float | None, column("Kappa")]
    low: Annotated[float | None, column("95% from", named="kappa_low")]
    high: Annotated[float | None, column("95% to", named="kappa_high")]
    share = share_of("agreed", "readings", after="agreed")


@dataclass(frozen=True, slots=True)
class OfPart:
    """How many of the decided pairs of a pass and a newspaper are duplicates, 0..1. Empty names: all of them."""

    pass_name: Annotated[str, column("Pass", named="pass", shown="label")]
    newspaper: Annotated[str, column("Newspaper")]
    decided: Decided
    confirmed: Confirmed
    precision: Precision
    low: Low
    high: High

    @property
    def label(self) -> str:
        """Return the label of the pass."""
        return label(self.pass_name) if self.pass_name else "any pass"


@dataclass(frozen=True, slots=True)
class Quality:
    """The work of the editors, and what it says about the proposals."""

    days: Annotated[list[EditorDay], table("Decisions by day and editor", named="decisions")]
    paces: Annotated[list[Pace], table("Answers per hour", named="pace")]
    agreement: Annotated[list[Readings], table("Agreement of editors")]
    precision: list[OfPart]


class QualityReport(Report, name="quality", label="Quality of decisions"):
    """Counts decisions by day and editor, answers per hour, how well editors agree, and how many of the decided pairs
    of each pass and newspaper are duplicates.
    """

    def result(self, scope: Scope, options: Any) -> Quality:  # noqa: ARG002 - it has none
        """Count the stored decisions and second readings."""
        return Quality(_days(scope), paces(_answers(scope)), _agreement(scope), _precision(scope))

    def summary(self, result: Quality) -> str:
        """Return a sentence with the totals."""
        decisions = sum(day.decisions for day in result.days)
        if not decisions:
            return "Nobody has decided anything here."
        editors = counted(len({day.editor for day in result.days}), "editor")
        undone = sum(day.undone for day in result.days)
        says = f"{editors} made {counted(decisions, 'decision')}; {undone:,} of them"
        says += " was undone." if undone == 1 else " were undone."
        whole = next((row for row in result.precision if not row.pass_name and not row.newspaper), None)
        if whole:
            says += f"\n{whole.confirmed:,} of {whole.decided:,} decided pairs ({whole.precision:.2%}) are duplicates."
        return says

    def tables(self, result: Quality) -> list[Table]:
        """Return the decisions, the paces, the agreement, and the precision by pass, by newspaper and by both."""
        by_pass = [part for part in result.precision if not part.newspaper]
        by_newspaper = [part for part in result.precision if not part.pass_name and part.newspaper]
        by_both = [part for part in result.precision if part.pass_name and part.newspaper]
        kinds = (
            ("precision_passes", "Precision by pass", by_pass, "pass"),
            ("precision_newspapers", "Precision by newspaper", by_newspaper, "newspaper"),
            ("precision", "Precision by pass and newspaper", by_both, "pass newspaper"),
        )
        numbers = "decided confirmed precision low high"
        precision = [drawn(parts, OfPart, name, title, columns=f"{of} {numbers}") for name, title, parts, of in kinds]
        return [*super().tables(result), *precision]

    def charts(self, result: Quality) -> list[Chart]:
        """Return the decisions by day, and the precision by pass."""
        by_pass = (
            (part.label, part.decided, part.precision, part.low, part.high)
            for part in result.precision
            if not part.newspaper
        )
        return [*([_days_chart(result.days)] if result.days else []), *precision_charts(by_pass)]


def _in_scope(scope: Scope) -> QuerySet[Decision]:
    """Return the decisions whose articles all count; an undo is counted with the decision that it undoes."""
    decisions = Decision.objects.exclude(kind=Decision.Kind.UNDO).order_by()
    return decisions if scope == Scope() else decisions.exclude(pk__in=rows_of(_OUTSIDE_SQL, scope, int))


def _readings(scope: Scope) -> QuerySet[SecondReading]:
    """Return the second readings of pairs that count."""
    return SecondReading.objects.filter(given(**of_both(scope, "pair__"))).order_by()


def _days(scope: Scope) -> list[EditorDay]:
    on_pairs, on_clusters = Q(kind__in=list(Answer)), Q(kind__in=ON_CLUSTERS)
    rows = (
        _in_scope(scope)
        .annotate(day=TruncDate("decided_at"))
        .values_list("day", "decided_by__username")
        .annotate(
            decisions=Count("pk"),
            pairs=Count("pk", filter=on_pairs),
            clusters=Count("pk", filter=on_clusters),
            others=Count("pk", filter=~(on_pairs | on_clusters)),
            undone=Count("undone_by"),
        )
    )
    return sorted((EditorDay(*row) for row in rows), key=lambda row: (row.day, row.editor))


def _answers(scope: Scope) -> Iterable[tuple[str, datetime.datetime]]:
    """Yield every answer in force as its editor and time, by editor and in order, without keeping them."""
    made = _in_scope(scope).filter(kind__in=ANSWERS, undone_by=None)
    answers = made.values_list("decided_by__username", "decided_at").union(
        _readings(scope).filter(blind=True).values_list("user__username", "read_at"), all=True
    )
    return answers.order_by("decided_by__username", "decided_at").iterator()


def paces(answers: Iterable[tuple[str, datetime.datetime]]) -> list[Pace]:
    """Return the pace of each editor. A pause of more than 30 minutes ends a sitting and counts as no time."""
    return [_pace(editor, (at for _, at in own)) for editor, own in groupby(answers, key=lambda entry: entry[0])]


def _pace(editor: str, times: Iterable[datetime.datetime]) -> Pace:
    count = sittings = 0
    spent, last = datetime.timedelta(), None
    for at in times:
        count += 1
        if last is None or at - last > PAUSE:
            sittings += 1
        else:
            spent += at - last
        last = at
    timed = count - sittings
    enough = timed >= LEAST_ANSWERS - 1 and spent >= LEAST_TIME
    hours = spent / datetime.timedelta(hours=1)
    return Pace(editor, count, sittings, hours, timed / hours if enough else None)


def _agreement(scope: Scope) -> list[Readings]:
    found = agreements(_readings(scope))
    return [
        Readings(name, agreement.readings, agreement.agreed, *(agreement.kappa or UNKNOWN))
        for name, agreement in (("all pairs", found.all), *found.by_verdict)
        if agreement.readings
    ]


def _precision(scope: Scope) -> list[OfPart]:
    known = {name: place for place, name in enumerate([*PASSES, ""])}

    def measured(pass_name: str, newspaper: str, decided: int, confirmed: int) -> OfPart:
        return OfPart(pass_name, newspaper, decided, confirmed, *(precision_of(confirmed, decided) or UNKNOWN))

    rows = [row for row in rows_of(_PRECISION_SQL, scope, measured, parted=PARTED_STATES) if row.decided]
    return sorted(rows, key=lambda row: (known.get(row.pass_name, len(known)), row.pass_name, row.newspaper))


def _days_chart(days: list[EditorDay]) -> Chart:
    totals: dict[str, int] = {}
    for row in days:
        totals[row.editor] = totals.get(row.editor, 0) + row.decisions
    busiest = sorted(totals, key=lambda name: (-totals[name], name))
    named = {name: drawn_name(name) for name in busiest[:MOST_EDITORS_DRAWN]}
    rows = [
        {"day": row.day.isoformat(), "editor": named.get(row.editor, "others"), "decisions": row.decisions}
        for row in days
    ]
    scale, axis = time_axis("day", days[0].day, days[-1].day)
    order, legend = [*named.values(), "others"], alt.Legend(orient="top")
    spec = bar_plot(
        rows,
        220,
        room=60,
        x=alt.X("utcyearmonthdate(day):T", title=None, scale=scale, axis=axis),
        y=alt.Y("sum(decisions):Q", title="Decisions", axis=alt.Axis(tickMinStep=1)),
        color=alt.Color("editor:N", sort=order, title="Editor", legend=legend),
    )
    return Chart(
        "decisions",
        "Decisions by day",
        f"The decisions of each day by editor, from {days[0].day} to {days[-1].day}. {busiest[0]} made most: "
        f"{totals[busiest[0]]:,}.",
        spec,
    )
