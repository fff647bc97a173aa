"""The report on newspapers: the articles and duplicates of each, or of each collection of them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from django.db.models import Count, Max, Min

from articles.models import Article
from articles.numbers import counted
from articles.storage.collections import names_by
from dedup.declarations import Settings, setting
from dedup.detection.runs.scope import Scope
from dedup.reports.base import COLLECTIONS, Chart, Report, together
from dedup.reports.columns import Table, column, drawn, share_of
from dedup.reports.drawing import MOST_BARS, stacked


@dataclass(frozen=True, slots=True)
class NewspapersOptions(Settings):
    """By what newspapers are grouped; by several kinds, each edition of an owner, for example, is a group."""

    by_owner: bool = setting(False, help="Count the newspapers of one owner together.", source=COLLECTIONS)
    by_edition: bool = setting(False, help="Count the newspapers of one edition together.", source=COLLECTIONS)
    together: str = together()

    @property
    def kinds(self) -> list[str]:
        """The kinds of the collections that are counted."""
        chosen = {"owner": self.by_owner, "edition": self.by_edition, self.together: bool(self.together)}
        return [kind for kind, is_chosen in chosen.items() if is_chosen]


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
    share = share_of("duplicates", "articles")


class NewspapersReport(Report, name="newspapers", label="Newspapers", page="Newspapers", options=NewspapersOptions):
    """Counts the articles and duplicates of each newspaper, or of each collection of them."""

    def result(self, scope: Scope, options: NewspapersOptions) -> list[NewspaperCounts]:
        """Count the stored articles, and those in the clusters of the last run."""
        articles = Article.objects.in_scope(**scope.bounds()).order_by()
        # An article is in one cluster at most, so neither join multiplies the rows.
        rows = articles.values_list("newspaper", "newspaper__name").annotate(
            Count("pk"), Min("date"), Max("date"), Count("membership"), Count("kept_by")
        )
        return grouped(rows, [names_by(kind) for kind in options.kinds])

    def tables(self, result: list[NewspaperCounts]) -> list[Table]:
        """Return the counts."""
        return [drawn(result, NewspaperCounts, self.name, self.label)]

    def charts(self, result: list[NewspaperCounts]) -> list[Chart]:
        """Return the articles of the largest ones, divided into duplicates and others; none without articles."""
        if not result:
            return []
        parts = [
            (row.name, {"duplicates": row.duplicates, "others": row.articles - row.duplicates})
            for row in result[:MOST_BARS]
        ]
        described = f"The {len(parts)} with most articles; {result[0].name} has most: {result[0].articles:,}."
        return [Chart("articles", "Articles and duplicates", described, stacked(parts, "Articles", room=220))]

    def summary(self, result: list[NewspaperCounts]) -> str:
        """Return a sentence with the totals."""
        articles = sum(counts.articles for counts in result)
        if not articles:
            return "There are no articles to count."
        newspapers, duplicates = (sum(getattr(row, name) for row in result) for name in ("newspapers", "duplicates"))
        have = "has" if newspapers == 1 else "have"
        return (
            f"{counted(newspapers, 'newspaper')} {have} {counted(articles, 'article')}; {duplicates:,} of them "
            f"({duplicates / articles:.2%}) are duplicates of another one."
        )


def grouped(rows: Iterable[tuple[Any, ...]], named: Sequence[Mapping[int, str]]) -> list[NewspaperCounts]:
    """Return the counts by group, the group with most articles first. A newspaper without one is a group of its own.

    A row is a newspaper's id and name, its articles, their first and last day, and those of them that are in clusters
    and that represent one. `named` are names of groups, by the ids of their newspapers.
    """
    groups: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for newspaper, name, *counts in rows:
        group = ", ".join(names[newspaper] for names in named if newspaper in names)
        groups[group or name].append(tuple(counts))
    found = []
    for name, newspapers in groups.items():
        articles, first, last, clustered, kept = zip(*newspapers, strict=True)
        totals = (sum(articles), min(first), max(last), sum(clustered), sum(clustered) - sum(kept))
        found.append(NewspaperCounts(name, len(newspapers), *totals))
    return sorted(found, key=lambda row: (-row.articles, row.name))
