"""Report `policies`: how many articles each policy of export_corpus would remove, and why.

It asks the same code as the export. Removing copies of the same newspaper and keeping those of others is what a study
of a Google Alerts feed did: 1.40% of its articles were removed as copies of the same day, 0.23% as later ones.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated

from articles.models import Article
from articles.storage.collections import units_by
from dedup.declarations import Settings, setting
from dedup.detection.clustering.policies import RULES, Policy, Reason, removals
from dedup.detection.runs.scope import Scope
from dedup.reports.base import Chart, Report, together
from dedup.reports.columns import COUNT, SHARE, TEXT, Table, column, listed, share, share_of_all, table
from dedup.reports.drawing import alt, stacked
from dedup.rows.corpus.places import in_part, whole_clusters


@dataclass(frozen=True, slots=True)
class PoliciesOptions(Settings):
    """Which clusters count, and what counts as one newspaper."""

    confirmed: bool = setting(
        False,
        help="Count only clusters that decisions alone hold together.",
        source="the option --clusters of export_corpus",
    )
    together: str = together()


@dataclass(frozen=True, slots=True)
class PolicyCounts:
    """What a policy does: articles that stay and that leave, the latter also by reason."""

    policy: Annotated[str, column("Policy")]
    rule: Annotated[str, column("Rule")]
    kept: Annotated[int, column("Kept")]
    removed: Annotated[int, column("Removed")]
    by_reason: dict[str, int]
    share = share_of_all("removed", "articles", "Share removed")


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """The articles counted, those of them in clusters, and what each policy does with them."""

    articles: int
    in_clusters: int
    policies: Annotated[list[PolicyCounts], table("Policies")]


class PoliciesReport(Report, name="policies", label="Corpus policies", options=PoliciesOptions, after_run=True):
    """Counts how many articles each policy of export_corpus removes, and why."""

    def result(self, scope: Scope, options: PoliciesOptions) -> PolicyResult:
        """Count by the same rules as the export, cluster by cluster."""
        articles = Article.objects.in_scope(**scope.bounds()).count()
        reasons: dict[Policy, Counter[Reason]] = {policy: Counter() for policy in Policy}
        in_clusters, (units, _) = 0, units_by(options.together)
        for cluster in whole_clusters(confirmed_only=options.confirmed):
            members = in_part(scope, cluster.members)
            in_clusters += len(members)
            for policy, found in reasons.items():
                found.update(removal.reason for removal in removals(policy, members, cluster.kept, units))
        result = PolicyResult(articles, in_clusters, [])
        for policy, found in reasons.items():
            by_reason = {reason.value: found[reason] for reason in Reason if found[reason]}
            counts = PolicyCounts(policy.value, RULES[policy], articles - found.total(), found.total(), by_reason)
            result.policies.append(counts)
        return result

    def summary(self, result: PolicyResult) -> str:
        """Return a sentence on the two policies that researchers use most."""
        if not result.articles:
            return "There are no articles to count."
        of = {row.policy: row.removed for row in result.policies}
        return (
            f"Of {result.articles:,} articles, keep-syndication removes {of[Policy.KEEP_SYNDICATION]:,} "
            f"({of[Policy.KEEP_SYNDICATION] / result.articles:.2%}) and one-per-cluster removes "
            f"{of[Policy.ONE_PER_CLUSTER]:,} ({of[Policy.ONE_PER_CLUSTER] / result.articles:.2%})."
        )

    def tables(self, result: PolicyResult) -> list[Table]:
        """Return a table of the policies, and one of the reasons of each."""
        reasons = (
            (row.policy, reason, articles, share(articles, result.articles))
            for row in result.policies
            for reason, articles in row.by_reason.items()
        )
        columns = (("policy", "Policy", TEXT), ("reason", "Reason", TEXT), ("articles", "Articles", COUNT))
        shares = ("share", "Share", SHARE)
        return [*super().tables(result), listed("reasons", "Why articles are removed", reasons, *columns, shares)]

    def charts(self, result: PolicyResult) -> list[Chart]:
        """Return a bar for each policy that removes something, divided by reason; none if none does."""
        reasons = [reason for reason in Reason if any(row.by_reason.get(reason) for row in result.policies)]
        if not reasons:
            return []
        parts = [
            (row.policy, {str(reason): row.by_reason.get(reason, 0) for reason in reasons}) for row in result.policies
        ]
        spec = stacked(parts, "Articles removed", height=20, legend=alt.Legend(orient="top", columns=4))
        said = "; ".join(f"{row.policy}: {row.removed:,}" for row in result.policies)
        return [Chart("policies", "Articles removed by each policy", f"{said}. The table has the reasons.", spec)]
