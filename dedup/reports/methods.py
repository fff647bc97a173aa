"""The report for a paper: a methods paragraph, BibTeX, and every number with the commands that give it again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from articles.models import Newspaper
from dedup.declarations import Settings
from dedup.detection.runs.facts import label as label_of_pass
from dedup.detection.runs.scope import Scope
from dedup.reports.base import Cell, Column, ColumnType, File, Report, Table
from dedup.reports.methods_facts import Facts, facts_of
from dedup.reports.methods_text import bibtex, commands, paragraph
from dedup.rows.corpus.members import Part


@dataclass(frozen=True, slots=True)
class Methods:
    """The texts for a paper, and the facts that they state."""

    paragraph: str
    bibtex: str
    commands: list[str]
    facts: Facts


class MethodsReport(Report):
    """What a paper says of the method."""

    name: ClassVar[str] = "methods"
    label: ClassVar[str] = "Methods"
    help: ClassVar[str] = "Writes the methods paragraph of a paper, and lists the commands that repeat every number."
    options_class: ClassVar[type[Settings]] = Settings
    after_run: ClassVar[bool] = True
    names_run: ClassVar[bool] = True

    def result(self, scope: Scope, _options: Settings) -> Methods:
        """Collect what is known of the last run and of the archive."""
        facts = facts_of(scope)
        return Methods(paragraph(facts), bibtex(facts), commands(facts, _bounds(scope)), facts)

    def says(self, result: Methods) -> str:
        """Return the paragraph."""
        return result.paragraph

    def tables(self, result: Methods) -> list[Table]:
        """Return the counts, what was measured, the settings, and the commands."""
        facts = result.facts
        return [
            Table("counts", "Counts", _COUNT_COLUMNS, tuple(_counts(facts))),
            Table("measured", "Measured on the validation sample", _MEASURED_COLUMNS, tuple(_measured(facts))),
            Table("agreement", "Agreement of readers", _AGREEMENT_COLUMNS, tuple(_agreement(facts))),
            Table("settings", "Settings, versions and seeds", _SETTING_COLUMNS, tuple(_settings(facts))),
            Table(
                "commands",
                "Commands that repeat every number",
                (Column("command", "Command"),),
                tuple((command,) for command in result.commands),
            ),
        ]

    def files(self, result: Methods) -> list[File]:
        """Return the paragraph and the BibTeX entries."""
        return [
            File("methods.txt", "text/plain", "Methods paragraph", f"{result.paragraph}\n"),
            File("methods.bib", "application/x-bibtex", "BibTeX", result.bibtex, shown=True),
        ]


def methods_of(part: Part) -> str:
    """Return the paragraph for the articles of a corpus."""
    return paragraph(facts_of(Scope(part.since, part.until, part.newspaper_ids)))


_COUNT_COLUMNS = (Column("counted", "Counted"), Column("count", "Count", ColumnType.COUNT))
_MEASURED_COLUMNS = (
    Column("called", "Called duplicates by"),
    Column("precision", "Precision", ColumnType.SHARE),
    Column("precision_low", "95% from", ColumnType.SHARE),
    Column("precision_high", "95% to", ColumnType.SHARE),
    Column("recall", "Recall", ColumnType.SHARE),
    Column("recall_low", "95% from", ColumnType.SHARE),
    Column("recall_high", "95% to", ColumnType.SHARE),
    Column("f1", "F1", ColumnType.SHARE),
)
_AGREEMENT_COLUMNS = (
    Column("of", "Of"),
    Column("readings", "Pairs", ColumnType.COUNT),
    Column("agreed", "Agreed", ColumnType.SHARE),
    Column("kappa", "Kappa", ColumnType.NUMBER),
    Column("kappa_low", "95% from", ColumnType.NUMBER),
    Column("kappa_high", "95% to", ColumnType.NUMBER),
)
_SETTING_COLUMNS = (Column("part", "Part"), Column("setting", "Setting"), Column("value", "Value"))


def _counts(facts: Facts) -> Iterator[tuple[Cell, ...]]:
    counts = facts.counts
    yield "articles", counts.articles
    yield "newspapers", counts.newspapers
    yield "proposed pairs", counts.pairs
    for verdict, pairs in counts.verdicts.items():
        yield f"of them with the verdict {verdict}", pairs
    for detection_pass in facts.passes:
        yield f"pairs of the pass {detection_pass.label}", detection_pass.pairs
    yield "pairs that editors have decided", counts.decided_pairs
    yield "clusters", counts.clusters
    yield "articles in clusters", counts.clustered_articles
    yield "articles that duplicate another one", counts.duplicate_articles
    yield "articles stored or changed since the run", counts.changed_since_run


def _measured(facts: Facts) -> Iterator[tuple[Cell, ...]]:
    if facts.measured is None:
        return
    rows = {"the verdict": facts.measured.verdict}
    rows |= {label_of_pass(name): each for name, each in facts.measured.passes.items()}
    for name, numbers in rows.items():
        yield name, *_interval(numbers, "precision"), *_interval(numbers, "recall"), numbers["f1"]


def _interval(numbers: dict[str, Any], name: str) -> tuple[Cell, ...]:
    return numbers[name], *(numbers[f"{name}_interval"] or (None, None))


def _agreement(facts: Facts) -> Iterator[tuple[Cell, ...]]:
    for each in facts.agreement:
        yield each.of, each.readings, each.share, each.kappa, *(each.kappa_interval or (None, None))


def _settings(facts: Facts) -> Iterator[tuple[Cell, ...]]:
    for name, version in facts.versions.items():
        yield "versions", name, version
    yield "model", "version", str(facts.model["version"])
    yield "model", "called duplicate from", f"{facts.model['threshold']:g}"
    for name, seed in facts.seeds.items():
        yield "seeds", name, str(seed)
    if facts.run:
        yield "run", "profile", str(facts.run["profile"])
        yield "run", "boilerplate", str(facts.run["boilerplate"])
    for detection_pass in facts.passes:
        for name, value in detection_pass.settings.items():
            yield detection_pass.label, name, str(value)


def _bounds(scope: Scope) -> list[str]:
    """Return the options of a command for the scope."""
    options: list[str] = []
    for name, day in (("since", scope.since), ("until", scope.until)):
        options += [f"--{name}", day.isoformat()] if day else []
    names = Newspaper.objects.filter(pk__in=scope.newspaper_ids or ()).order_by("name").values_list("name", flat=True)
    for name in names:
        options += ["--newspaper", name]
    return options
