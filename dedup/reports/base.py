"""The contract of a report: what it computes, its options, and the sentence, tables and charts that show the result."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, LiteralString, TypeVar

from articles.storage.collections import known_kinds
from dedup.declarations import Settings, setting
from dedup.detection.runs.scope import Scope
from dedup.models.base import read_rows
from dedup.reports.columns import Table, tables_of

Row = TypeVar("Row")

# So many articles or pairs make an archive large. At the end of a run of one, reports are computed; the others, and all
# of a smaller one, a page computes while the reader waits, for about a second. Measured on one core, in seconds, with
# 248, 5,000 and 20,000 articles, which have 170, 1,310 and 8,545 pairs: overview 0.02, 0.05, 0.19; passes and advice
# 0.06 at most; thresholds 0.03, 0.09, 0.23; same 0.13, 0.15, 0.57; gaps 0.05, 0.62, 2.7; terms 0.09, 2.2, 5.7; lineage
# 0.25, 0.46, 5.2, by the clusters, which are 70, 57 and 679. The last five are heavy from where that comes to a second.
LARGE = 20_000


class ReportError(ValueError):
    """The report cannot be computed this way; the message says why, and what can be done."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart: its title, what it shows in a sentence or two for those who do not see it, and how to draw it.

    `spec` is an Altair chart without a title and without colours of text and background, which drawing.py adds. A field
    that is encoded as `href` makes its marks links.
    """

    name: str
    title: str
    description: str
    spec: Any


@dataclass(frozen=True, slots=True)
class File:
    """One more file that a report gives, such as network.graphml. Its name is unique in the report.

    The page of the report shows the text too, to be copied, if it is to be `shown`.
    """

    name: str
    content_type: str
    label: str
    text: str
    shown: bool = False


class Report(ABC):
    """A computation over the archive.

    `result` computes and changes nothing. It returns dataclasses, lists and dictionaries of texts, numbers and days,
    which are the report's JSON; it may raise ReportError. The other methods present that result to people and programs,
    and compute nothing. The docstring of its class is its help: one sentence on what it computes. Boolean options
    default to false: a URL has only the options that were chosen.

    Reports of one `page` share an entry of the list, and tabs; without one, its label is the name of its own page. From
    `heavy_from` articles or pairs on, if that is set, one takes longer than a reader waits for a page: the command or a
    worker computes it, and the page shows the result. One of `after_run` is computed with its default options at the
    end of each run of a large archive, so that its page is there at once. The result of one that `names_run` changes
    with every run.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    page: ClassVar[str]
    options_class: ClassVar[type[Settings]]
    heavy_from: ClassVar[int | None]
    after_run: ClassVar[bool]
    names_run: ClassVar[bool]

    def __init_subclass__(
        cls,
        *,
        name: str = "",
        label: str = "",
        page: str = "",
        options: type[Settings] = Settings,
        heavy_from: int | None = None,
        after_run: bool = False,
        names_run: bool = False,
    ) -> None:
        cls.name, cls.label, cls.page, cls.options_class = name, label, page or label, options
        cls.heavy_from, cls.after_run, cls.names_run = heavy_from, after_run, names_run

    @property
    def help(self) -> str:
        """What people read of the report."""
        return " ".join((self.__doc__ or "").split())

    def check(self, options: Any) -> None:  # noqa: B027 - most reports can be computed with any options
        """Raise ReportError if the report can never be computed with these options; `result` raises it too."""

    def heavy_with(self, options: Any) -> int | None:  # noqa: ARG002 - most reports take as long with any options
        """Return from how many articles or pairs on the report is heavy with these options; None if it never is."""
        return self.heavy_from

    @abstractmethod
    def result(self, scope: Scope, options: Any) -> Any: ...

    @abstractmethod
    def summary(self, result: Any) -> str:
        """Return the result in one sentence, with which its page begins; what else there is to say is on more lines."""

    def tables(self, result: Any) -> list[Table]:
        """Return the tables that the result declares."""
        return tables_of(result)

    def charts(self, result: Any) -> Sequence[Chart]:  # noqa: ARG002 - most reports have some
        """Return the charts of the result."""
        return ()

    def files(self, result: Any) -> Sequence[File]:  # noqa: ARG002 - few reports have any
        """Return what the report gives besides its tables."""
        return ()


# Of options that group newspapers.
COLLECTIONS = "the collections that admins make"


def together() -> Any:
    """Declare the option by which the newspapers of a collection count as one."""
    return setting(
        "",
        label="Collections that count as one",
        help="Count the newspapers of each collection of this kind as one: owner, edition, country or another.",
        unit="a kind of collections",
        offers=known_kinds,
        source=COLLECTIONS,
    )


# ---- what several reports count ----------------------------------------------------------------------


def rows_of(statement: LiteralString, scope: Scope, row: Callable[..., Row], **values: Any) -> list[Row]:
    """Return the rows of a statement over the articles of a scope, each as `row` makes it of its columns."""
    return [row(*columns) for columns in read_rows(statement, **scope.bounds(), **values)]


def of_both(scope: Scope, pair: str = "") -> dict[str, Any]:
    """Return the conditions for both articles of a pair to be in the scope; `pair` is the way to the pair."""
    bounds: dict[str, Any] = {}
    for side in ("left", "right"):
        bounds[f"{pair}{side}__date__gte"] = scope.since
        bounds[f"{pair}{side}__date__lte"] = scope.until
        bounds[f"{pair}{side}__newspaper_id__in"] = scope.newspaper_ids
        bounds[f"{pair}{side}__in"] = scope.found
    return bounds
