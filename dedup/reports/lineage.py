"""Report `lineage`: who publishes first, who follows whom after how many hours, and the kinds of reuse.

The lineage of each cluster is traced as on its page (lineage/). Kinds of reuse: Nicholls, Detecting Textual Reuse
in News Stories, At Scale, International Journal of Communication 13 (2019), 4173-4197.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from statistics import median
from typing import Annotated, Any

from articles.models import Article
from dedup.detection.lineage.articles import KIND_LABELS, Confidence, Kind, Lineage
from dedup.detection.runs.scope import Scope
from dedup.models import Cluster
from dedup.reports.base import Chart, Report
from dedup.reports.columns import column, share_of, share_of_all, table
from dedup.reports.drawing import MOST_BARS, bars, drawn_name
from dedup.review.queries.lineage import traced_clusters


@dataclass(frozen=True, slots=True)
class KindCount:
    """The clusters of one kind of reuse, by how well that is supported."""

    kind: str
    label: Annotated[str, column("Kind", named="kind")]
    clusters: Annotated[int, column("Clusters")]
    clear: Annotated[int, column("Clear")]
    likely: Annotated[int, column("Likely")]
    doubtful: Annotated[int, column("Doubtful")]
    share = share_of_all("clusters", "clusters", after="clusters")


@dataclass(frozen=True, slots=True)
class Leader:
    """A newspaper: the clusters with other newspapers that it is in, those whose first is known, and those it led."""

    newspaper: Annotated[str, column("Newspaper")]
    clusters: Annotated[int, column("Clusters with others")]
    known: Annotated[int, column("First is known")]
    led: Annotated[int, column("It was first")]
    share = share_of("led", "known")


@dataclass(frozen=True, slots=True)
class Following:
    """How often the one newspaper followed the other; the median of hours is of the `timed` ones."""

    source: Annotated[str, column("First")]
    follower: Annotated[str, column("Followed by")]
    articles: Annotated[int, column("Articles")]
    copying: Annotated[int, column("Newspaper to newspaper")]  # not both from elsewhere
    timed: Annotated[int, column("Hours known")]
    median_hours: Annotated[float | None, column("Median hours")]


@dataclass(slots=True)
class Lineages:
    """The clusters in the scope. `between`: those of several owners; of these, the first of `unknown_first` is unknown.

    `arrows` lead from articles to those that follow; the order of `unordered` ones is unknown. `unread` articles had
    texts too many to be compared.
    """

    clusters: int = 0
    between: int = 0
    unknown_first: int = 0
    arrows: int = 0
    unordered: int = 0
    unread: int = 0
    kinds: Annotated[list[KindCount], table("Kinds of reuse")] = field(default_factory=list)
    leaders: Annotated[list[Leader], table("Who publishes first", named="first")] = field(default_factory=list)
    followings: Annotated[list[Following], table("Who follows whom", named="following")] = field(default_factory=list)


@dataclass
class _Counting:
    """What is counted while the clusters pass by; memory grows with newspapers and with arrows, not with texts."""

    found: Lineages = field(default_factory=Lineages)
    kinds: Counter[tuple[Kind, Confidence]] = field(default_factory=Counter)
    present: Counter[str] = field(default_factory=Counter)
    known: Counter[str] = field(default_factory=Counter)
    led: Counter[str] = field(default_factory=Counter)
    # Of each newspaper and one that follows it, whether an article is copied, and its hours if they are known.
    followed: dict[tuple[str, str], list[tuple[bool, float | None]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, lineage: Lineage) -> None:
        """Count one cluster."""
        self.found.clusters += 1
        self.found.unread += lineage.unread
        self.kinds[lineage.kind, lineage.confidence] += 1
        self._add_edges(lineage)
        if lineage.kind is Kind.OWN:
            return
        self.found.between += 1
        names = {article.name for article in lineage.articles}
        self.present.update(names)
        if lineage.leader:
            self.known.update(names)
            self.led[lineage.leader.name] += 1
        else:
            self.found.unknown_first += 1

    def _add_edges(self, lineage: Lineage) -> None:
        names = {article.number: article.name for article in lineage.articles}
        for edge in lineage.edges:
            self.found.arrows += 1
            both = names[edge.source], names[edge.follower]
            if edge.direction is Confidence.DOUBTFUL:
                self.found.unordered += 1
            elif both[0] != both[1]:
                self.followed[both].append((edge.kind is Kind.NEWSPAPER, edge.hours))

    def result(self) -> Lineages:
        """Return the counts, the most frequent first."""
        for kind in Kind:
            levels = (Confidence.CLEAR, Confidence.LIKELY, Confidence.DOUBTFUL)
            counts = [self.kinds[kind, confidence] for confidence in levels]
            self.found.kinds.append(KindCount(kind.value, KIND_LABELS[kind], sum(counts), *counts))
        names = sorted(self.present, key=lambda name: (-self.led[name], -self.present[name], name))
        self.found.leaders = [Leader(name, self.present[name], self.known[name], self.led[name]) for name in names]
        for both, edges in sorted(self.followed.items(), key=lambda entry: (-len(entry[1]), entry[0])):
            hours = [hours for _, hours in edges if hours is not None and hours > 0]
            middle, copied = round(median(hours), 2) if hours else None, sum(copied for copied, _ in edges)
            self.found.followings.append(Following(*both, len(edges), copied, len(hours), middle))
        return self.found


class LineageReport(Report, name="lineage", label="Lineage", heavy_from=1_000):
    """Counts who publishes first, who follows whom after how many hours, and the kinds of reuse: wire copy, press
    release, newspaper to newspaper, common source.
    """

    def result(self, scope: Scope, options: Any) -> Lineages:  # noqa: ARG002 - it has none
        """Trace every cluster with two or more articles in the scope."""
        counting = _Counting()
        inside = None if scope == Scope() else Article.objects.in_scope(**scope.bounds())
        for traced in traced_clusters(Cluster.objects.all(), inside):
            counting.add(traced.lineage)
        return counting.result()

    def summary(self, result: Lineages) -> str:
        """Return a sentence with the most frequent kind, and how much is unknown."""
        if not result.clusters:
            return "There are no clusters to trace."
        if not result.between:
            return f"All {result.clusters:,} clusters are of one newspaper or owner each."
        most = max((row for row in result.kinds if row.kind != Kind.OWN.value), key=lambda row: row.clusters)
        return (
            f"{result.between:,} of {result.clusters:,} clusters have articles of several owners.\nMost of these, "
            f"{most.clusters:,}, are {most.label}. Who was first is unknown in {result.unknown_first:,} of them "
            f"({result.unknown_first / result.between:.2%}). This doesn’t reflect an origin, exactly."
        )

    def charts(self, result: Lineages) -> list[Chart]:
        """Return the kinds of reuse, and who publishes first, as bars; none without clusters."""
        if not result.clusters:
            return []
        counts = ", ".join(f"{kind.label} {kind.clusters:,}" for kind in result.kinds)
        described = f"A bar for each kind, with its clusters: {counts}."
        drawn = bars([(kind.label, kind.clusters) for kind in result.kinds], "Clusters")
        kinds = Chart("kinds", "Kinds of reuse", described, drawn)
        return [kinds, *([_leaders_chart(result)] if any(leader.led for leader in result.leaders) else [])]


def _leaders_chart(result: Lineages) -> Chart:
    shown = [leader for leader in result.leaders if leader.led][:MOST_BARS]
    most = shown[0]
    return Chart(
        "first",
        "Who publishes first",
        f"The {len(shown)} newspapers that were first most often, as far as the times say. {most.newspaper} was first "
        f"in {most.led:,} of {most.known:,} clusters whose first article is known.",
        bars([(drawn_name(leader.newspaper), leader.led) for leader in shown], "Clusters in which it was first"),
    )
