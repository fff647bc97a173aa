"""How well the traced lineage of scenarios agrees with the truth."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from dedup.detection.lineage.articles import Confidence, Kind, Lineage
from dedup.detection.lineage.trace import trace
from tests.dedup.lineage.scenarios import Scenario


@dataclass
class Share:
    """A count out of another: so many right of so many."""

    right: int = 0
    all: int = 0

    def add(self, *, right: bool) -> None:
        """Count one more."""
        self.right += right
        self.all += 1

    @property
    def value(self) -> float:
        """The share, 0..1; 0 of nothing."""
        return self.right / self.all if self.all else 0.0

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.right}/{self.all})"


@dataclass
class Scores:
    """Precision and recall of order, direction, copying and kinds over scenarios."""

    order: dict[Confidence, Share] = field(default_factory=lambda: {confidence: Share() for confidence in Confidence})
    direction: Share = field(default_factory=Share)
    direction_found: Share = field(default_factory=Share)
    copying: Share = field(default_factory=Share)
    copied: Share = field(default_factory=Share)
    parents: Share = field(default_factory=Share)
    first: Share = field(default_factory=Share)
    first_said: Share = field(default_factory=Share)
    kinds: Counter[tuple[Kind, Kind]] = field(default_factory=Counter)
    by_confidence: dict[Confidence, Share] = field(default_factory=lambda: {level: Share() for level in Confidence})

    def precision(self, kind: Kind) -> Share:
        """Return how many clusters that are said to be of this kind are."""
        said = {true: count for (true, found), count in self.kinds.items() if found is kind}
        return Share(said.get(kind, 0), sum(said.values()))

    def recall(self, kind: Kind) -> Share:
        """Return how many clusters of this kind are said to be."""
        of_kind = {found: count for (true, found), count in self.kinds.items() if true is kind}
        return Share(of_kind.get(kind, 0), sum(of_kind.values()))


def score(scenarios: Iterable[Scenario]) -> Scores:
    """Trace the scenarios and compare."""
    scores = Scores()
    for scenario in scenarios:
        _count(scores, scenario, trace(scenario.articles, scenario.texts))
    return scores


def _count(scores: Scores, truth: Scenario, lineage: Lineage) -> None:
    scores.kinds[truth.kind, lineage.kind] += 1
    scores.by_confidence[lineage.confidence].add(right=truth.kind is lineage.kind)
    true_first = min(truth.ran_at, key=lambda number: truth.ran_at[number])
    scores.first_said.add(right=lineage.leader is not None)
    if lineage.leader:
        scores.first.add(right=lineage.leader.number == true_first)
    source_of = {}
    for edge in lineage.edges:
        ran_before = truth.ran_at[edge.source] < truth.ran_at[edge.follower]
        scores.order[edge.direction].add(right=ran_before)
        if edge.direction is Confidence.DOUBTFUL:
            continue
        source_of[edge.follower] = edge.source
        forth, back = edge.source in truth.ancestors(edge.follower), edge.follower in truth.ancestors(edge.source)
        if forth or back:
            scores.direction.add(right=forth)
        if edge.kind is Kind.NEWSPAPER:
            scores.copying.add(right=forth)
    copies = {edge.follower for edge in lineage.edges if edge.kind is Kind.NEWSPAPER}
    for follower, parent in truth.parents.items():
        scores.direction_found.add(right=source_of.get(follower) in truth.ancestors(follower))
        scores.parents.add(right=source_of.get(follower) == parent)
        if truth.kind is Kind.NEWSPAPER:
            scores.copied.add(right=follower in copies and source_of.get(follower) in truth.ancestors(follower))
