"""The report on newspapers: the articles and duplicates of each, or of each owner or edition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Annotated, Any, ClassVar

from django.db.models import Count, Max, Min

from articles.models import Article
from dedup.declarations import Settings, setting
from dedup.detection.runs.scope import Scope
from dedup.reports.base import Report
from dedup.reports.columns import SHARE, column

_SOURCE = "set in the admin for each newspaper"


@dataclass(frozen=True, slots=True)
class NewspapersOptions(Settings):
    """By what newspapers are grouped; by both, each edition of an owner is a group."""

    by_owner: bool = setting(
        False, help="Count the newspapers of one owner together.", unit="yes or no", source=_SOURCE
    )
    by_edition: bool = setting(
        False, help="Count the newspapers of one edition together.", unit="yes or no", source=_SOURCE
    )


@dataclass(frozen=True, slots=True)
class NewspaperCounts:
    """Counts of a newspaper or a group of newspapers.

    `clustered` counts the articles in clusters, and `duplicates` those of them that do not represent their cluster.
    """

    name: Annotated[str, column("Name")]
    newspapers: Annotated[int, column("Newspapers")]
    articles: Annotated[int, column("Articles")]
    first_day: Annotated[date, column("First day")]
    last_day: Annotated[date, column("Last day")]
    clustered: Annotated[int, column("In clusters")]
    duplicates: Annotated[int, column("Duplicates")]

    @property
    @column("Share", SHARE)
    def share(self) -> float:
        """Return the share of duplicates, 0..1."""
        return self.duplicates / self.articles

    def joined(self, other: NewspaperCounts) -> NewspaperCounts:
        """Return the counts of both."""
        return replace(
            self,
            newspapers=self.newspapers + other.newspapers,
            articles=self.articles + other.articles,
            first_day=min(self.first_day, other.first_day),
            last_day=max(self.last_day, other.last_day),
            clustered=self.clustered + other.clustered,
            duplicates=self.duplicates + other.duplicates,
        )


class NewspapersReport(Report):
    """Articles and duplicates by newspaper, the largest first."""

    name: ClassVar[str] = "newspapers"
    label: ClassVar[str] = "Newspapers"
    help: ClassVar[str] = "Counts the articles and duplicates of each newspaper, or of each owner or edition."
    options_class: ClassVar[type[Settings]] = NewspapersOptions

    def result(self, scope: Scope, options: NewspapersOptions) -> list[NewspaperCounts]:
        """Count the stored articles, and those in the clusters of the last run."""
        articles = Article.objects.in_scope(**scope.bounds()).order_by()
        # An article is in one cluster at most, so neither join multiplies the rows.
        rows = articles.values_list("newspaper__name", "newspaper__owner", "newspaper__edition").annotate(
            Count("pk"), Min("date"), Max("date"), Count("membership"), Count("kept_by")
        )
        return grouped(rows, options)

    def summary(self, result: list[NewspaperCounts]) -> str:
        """Return a sentence with the totals."""
        articles = sum(counts.articles for counts in result)
        if not articles:
            return "There are no articles to count."
        newspapers, duplicates = (
            sum(counts.newspapers for counts in result),
            sum(counts.duplicates for counts in result),
        )
        owners = "1 newspaper has" if newspapers == 1 else f"{newspapers:,} newspapers have"
        owned = "1 article" if articles == 1 else f"{articles:,} articles"
        share = f"{duplicates / articles:.2%}"
        return f"{owners} {owned}; {duplicates:,} of them ({share}) are duplicates of another one."


def grouped(rows: Iterable[tuple[Any, ...]], options: NewspapersOptions) -> list[NewspaperCounts]:
    """Return the counts by group, the group with most articles first. A newspaper without one is a group of its own.

    A row is a newspaper's name, owner and edition, its articles, their first and last day, and those of them that are
    in clusters and that represent one.
    """
    groups: dict[str, NewspaperCounts] = {}
    for newspaper, owner, edition, articles, first, last, clustered, kept in sorted(rows):
        group = (owner if options.by_owner else "", edition if options.by_edition else "")
        name = ", ".join(filter(None, group)) or newspaper
        counts = NewspaperCounts(name, 1, articles, first, last, clustered, clustered - kept)
        groups[name] = groups[name].joined(counts) if name in groups else counts
    return sorted(groups.values(), key=lambda row: (-row.articles, row.name))
