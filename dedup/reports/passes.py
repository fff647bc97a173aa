"""Report `passes`: what each pass finds, what it alone finds, and how passes overlap."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any, NamedTuple

from articles.numbers import counted
from dedup.detection.article_sql import article_sql
from dedup.detection.passes import PASSES
from dedup.detection.runs.facts import label
from dedup.detection.runs.scope import Scope
from dedup.reports.base import LARGE, Chart, Report, rows_of
from dedup.reports.columns import COUNT, TEXT, Table, column, listed, table
from dedup.reports.drawing import BEHIND_TEXT, PALETTE, alt, stacked

_NAMES_SQL = "SELECT DISTINCT pass_name FROM dedup_evidence WHERE NOT stale"
# One reading of all evidence. The passes of a pair are the bits of a number, so there are few rows to return. Articles
# are joined with LEFT, so that PostgreSQL leaves them out where the scope has no bounds.
_FOUND_SQL = article_sql(
    """
WITH named AS (
    SELECT pass_name, (1 << (place - 1)::int) AS bit
    FROM unnest(%(passes)s::text[]) WITH ORDINALITY AS given (pass_name, place)
), found AS (
    SELECT evidence.pair_id, bit_or(named.bit) AS passes
    FROM dedup_evidence AS evidence
    JOIN named ON named.pass_name = evidence.pass_name
    WHERE NOT evidence.stale
    GROUP BY evidence.pair_id
), counted AS MATERIALIZED (
    SELECT found.passes, pair.left_id, pair.right_id,
        coalesce(left_member.cluster_id = right_member.cluster_id, false) AS clustered
    FROM found
    JOIN dedup_pair AS pair ON pair.id = found.pair_id
    LEFT JOIN {articles} AS left_article ON left_article.id = pair.left_id
    LEFT JOIN {articles} AS right_article ON right_article.id = pair.right_id
    LEFT JOIN dedup_membership AS left_member ON left_member.article_id = pair.left_id
    LEFT JOIN dedup_membership AS right_member ON right_member.article_id = pair.right_id
    WHERE {left_article.in_scope} AND {right_article.in_scope}
), found_article AS (
    SELECT either.article_id, bit_or(counted.passes) AS passes
    FROM counted
    CROSS JOIN LATERAL (VALUES (counted.left_id), (counted.right_id)) AS either (article_id)
    WHERE counted.clustered
    GROUP BY either.article_id
)
SELECT passes, count(*), count(*) FILTER (WHERE clustered), 0
FROM counted GROUP BY passes
UNION ALL
SELECT passes, 0, 0, count(*)
FROM found_article
JOIN dedup_membership AS member USING (article_id)
JOIN dedup_cluster AS cluster ON cluster.id = member.cluster_id AND cluster.kept_id <> found_article.article_id
GROUP BY passes
""",
    "left_article",
    "right_article",
)


class Counts(NamedTuple):
    """Pairs, those of them with both articles in one cluster, and duplicates."""

    pairs: int = 0
    clustered: int = 0
    duplicates: int = 0


class FoundBy:
    """How much each combination of passes finds; `passes` has their names, in the order of a run.

    A pass finds a pair if its current evidence proposes it, and a duplicate if it finds a pair of it with another
    article of its cluster.
    """

    def __init__(self, scope: Scope) -> None:
        """Read all evidence. The bits of the number of a combination are the places of its passes."""
        names = set(rows_of(_NAMES_SQL, scope, str))
        self.passes = [*(name for name in PASSES if name in names), *sorted(names.difference(PASSES))]
        rows = rows_of(_FOUND_SQL, scope, lambda *columns: columns, passes=self.passes) if names else []
        self._found = [
            (frozenset(name for place, name in enumerate(self.passes) if bits >> place & 1), counts)
            for bits, *counts in rows
        ]

    def _total(self, counts: Callable[[frozenset[str]], bool]) -> Counts:
        return Counts(*map(sum, zip(*(numbers for names, numbers in self._found if counts(names)), strict=True)))

    def all_of(self, *names: str) -> Counts:
        """Return what each of these passes finds, whatever others find it too; everything for no name."""
        return self._total(lambda found: found.issuperset(names))

    def only(self, name: str) -> Counts:
        """Return what this pass finds and no other one."""
        return self._total(lambda found: found == {name})


@dataclass(frozen=True, slots=True)
class PassCounts:
    """What a pass finds, and what it `alone` finds; of the `clustered` pairs, both articles are in one cluster."""

    name: str
    label: Annotated[str, column("Pass", named="pass")]
    pairs: Annotated[int, column("Pairs")]
    pairs_alone: Annotated[int, column("By it alone")]
    clustered: Annotated[int, column("In one cluster")]
    clustered_alone: Annotated[int, column("By it alone")]
    duplicates: Annotated[int, column("Duplicates")]
    duplicates_alone: Annotated[int, column("By it alone")]


@dataclass(frozen=True, slots=True)
class Overlap:
    """What two passes both find."""

    one: str
    other: str
    pairs: int
    duplicates: int


@dataclass(frozen=True, slots=True)
class Passes:
    """The passes with pairs in the order of a run, every two of them in both orders, and all passes together."""

    pairs: int
    clustered: int
    duplicates: int
    passes: Annotated[list[PassCounts], table("What each pass finds")]
    overlap: list[Overlap]


class PassesReport(Report, name="passes", label="Passes", page="Detection", heavy_from=LARGE, after_run=True):
    """Counts the pairs and duplicates that each pass finds, what it alone finds, and what passes find in common."""

    def result(self, scope: Scope, options: Any) -> Passes:  # noqa: ARG002 - it has none
        """Count the current evidence."""
        found = FoundBy(scope)
        whole = found.all_of()
        passes = [counts for name in found.passes if (counts := _of_pass(found, name)).pairs]
        overlap = [
            Overlap(one.name, other.name, both.pairs, both.duplicates)
            for one, other in product(passes, repeat=2)
            for both in [found.all_of(one.name, other.name)]
        ]
        return Passes(whole.pairs, whole.clustered, whole.duplicates, passes, overlap)

    def summary(self, result: Passes) -> str:
        """Return a sentence with the totals."""
        if not result.pairs:
            return "No pass has proposed a pair here."
        alone = sum(found.pairs_alone for found in result.passes)
        passes = "1 pass proposes" if len(result.passes) == 1 else f"{len(result.passes)} passes propose"
        return (
            f"{passes} {counted(result.pairs, 'pair')}; {result.clustered:,} of them "
            f"({result.clustered / result.pairs:.2%}) have both articles in one cluster.\n{alone:,} pairs "
            f"({alone / result.pairs:.2%}) come from one pass alone."
        )

    def tables(self, result: Passes) -> list[Table]:
        """Return what each pass finds, and the two matrices."""
        return [
            *super().tables(result),
            _matrix(result, "pairs", "Pairs that two passes both find"),
            _matrix(result, "duplicates", "Duplicates that two passes both find"),
        ]

    def charts(self, result: Passes) -> list[Chart]:
        """Return the pairs of each pass, and the overlap."""
        return [_bars(result), _squares(result)] if result.passes else []


def _of_pass(found: FoundBy, name: str) -> PassCounts:
    counts, alone = found.all_of(name), found.only(name)
    return PassCounts(
        *(name, label(name)),
        *(counts.pairs, alone.pairs, counts.clustered, alone.clustered, counts.duplicates, alone.duplicates),
    )


def _matrix(result: Passes, number: str, title: str) -> Table:
    """Return a row and a column for each pass; on the diagonal is what the pass itself finds."""
    cells = {(row.one, row.other): getattr(row, number) for row in result.overlap}
    columns = [(f"and_{found.name}".replace(" ", "_"), found.label, COUNT) for found in result.passes]
    rows = ((one.label, *(cells[one.name, other.name] for other in result.passes)) for one in result.passes)
    return listed(f"overlap_{number}", title, rows, ("pass", "Pass", TEXT), *columns)


def _bars(result: Passes) -> Chart:
    parts = [
        (found.label, {"this pass alone": found.pairs_alone, "other passes too": found.pairs - found.pairs_alone})
        for found in result.passes
    ]
    scale = alt.Scale(range=[PALETTE[1], PALETTE[0]])
    spec = stacked(parts, "Pairs", height=26, room=160, title="Found by", scale=scale)
    most = max(result.passes, key=lambda row: row.pairs)
    return Chart(
        "pairs",
        "Pairs by pass",
        f"The pairs of each pass, and how many of them no other pass finds. {most.label} finds most: {most.pairs:,}, "
        f"{most.pairs_alone:,} of them alone.",
        spec,
    )


def _squares(result: Passes) -> Chart:
    labels = {found.name: found.label for found in result.passes}
    whole = {found.name: found.pairs for found in result.passes}
    rows = [
        {"row": labels[row.one], "column": labels[row.other], "share": share, "text": f"{share:.0%}"}
        for row in result.overlap
        for share in [row.pairs / whole[row.one]]
    ]
    order = list(labels.values())
    above = alt.Axis(orient="top", domain=False, ticks=False, labelAngle=-40)
    base = alt.Chart(alt.InlineData(values=rows), width=alt.Step(54), height=alt.Step(30)).encode(
        y=alt.Y("row:N", sort=order, title=None, axis=alt.Axis(domain=False, ticks=False)),
        x=alt.X("column:N", sort=order, title=None, axis=above),
    )
    scale = alt.Scale(domain=[0, 1], range=list(BEHIND_TEXT))
    squares = base.mark_rect().encode(color=alt.Color("share:Q", scale=scale, legend=None))
    return Chart(
        "overlap",
        "Share of the pairs of a row that the column finds too",
        "Of the pairs that the pass of a row finds, the share that the pass of a column finds too.",
        alt.layer(squares, base.mark_text().encode(text="text:N")),
    )
