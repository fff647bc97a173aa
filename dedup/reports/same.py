"""Report `same`: which clusters there would be for each choice of what counts as the same.

It asks the same code that rebuilds clusters and exports a corpus.
"""

from dataclasses import dataclass
from typing import Annotated

from articles.models import Article
from dedup.declarations import Settings
from dedup.detection.clustering.joins import joining_under
from dedup.detection.clustering.policies import Policy, removals
from dedup.detection.runs.scope import Scope
from dedup.detection.types import SameAs
from dedup.reports.base import Report, of_both
from dedup.reports.columns import column, share_of_all, table
from dedup.rows.corpus.places import in_part, whole_clusters


@dataclass(frozen=True, slots=True)
class SameCounts:
    """What a choice makes: pairs that join, clusters, their articles, and those that one-per-cluster removes."""

    same_as: Annotated[str, column("What counts as the same")]
    pairs: Annotated[int, column("Pairs that join")]
    clusters: Annotated[int, column("Clusters")]
    in_clusters: Annotated[int, column("Articles in them")]
    removed: Annotated[int, column("Copies to remove")]
    share = share_of_all("removed", "articles", "Share removed")


@dataclass(frozen=True, slots=True)
class SameResult:
    """The articles counted, and what each choice makes of them."""

    articles: int
    policies: Annotated[list[SameCounts], table("What counts as the same")]


class SameReport(Report, name="same", label="What counts as the same", heavy_from=30_000):
    """Counts the clusters, and the copies in them, for each choice of what counts as the same in a profile."""

    def result(self, scope: Scope, _options: Settings) -> SameResult:
        """Cluster the stored pairs under each choice; nothing is stored."""
        result = SameResult(Article.objects.in_scope(**scope.bounds()).count(), [])
        given = {name: value for name, value in of_both(scope).items() if value is not None}
        for same_as in SameAs:
            pairs = joining_under(same_as).filter(**given).count()
            clusters = in_clusters = removed = 0
            for cluster in whole_clusters(confirmed_only=False, same_as=same_as):
                members = in_part(scope, cluster.members)
                clusters += bool(members)
                in_clusters += len(members)
                removed += len(removals(Policy.ONE_PER_CLUSTER, members, cluster.kept))
            result.policies.append(SameCounts(same_as.value, pairs, clusters, in_clusters, removed))
        return result

    def summary(self, result: SameResult) -> str:
        """Return a sentence on the narrowest and the widest choice."""
        if not result.articles:
            return "There are no articles to count."
        removed = {row.same_as: f"{row.removed:,} ({row.removed / result.articles:.2%})" for row in result.policies}
        return (
            f"Of {result.articles:,} articles, one-per-cluster removes {removed[SameAs.COPIES]} if only copies are the "
            f"same, {removed[SameAs.CROPPED]} with cropped copies, {removed[SameAs.STATES]} with every state of a "
            f"story, and {removed[SameAs.UPDATES]} with updates."
        )
