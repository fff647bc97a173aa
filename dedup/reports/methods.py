"""The report for a paper: a methods paragraph, BibTeX, and every number with the commands that give it again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from articles.models import Newspaper
from dedup.declarations import Settings
from dedup.detection.runs.facts import label as label_of_pass
from dedup.detection.runs.scope import Scope
from dedup.reports.base import File, Report
from dedup.reports.columns import SHARE, High, Low, Precision, Table, column, drawn
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

    def summary(self, result: Methods) -> str:
        """Return the paragraph."""
        return result.paragraph

    def tables(self, result: Methods) -> list[Table]:
        """Return the counts, what was measured, the settings, and the commands."""
        facts = result.facts
        commands = map(CommandRow, result.commands)
        return [
            drawn(_counts(facts), CountRow, "counts", "Counts"),
            drawn(_measured(facts), MeasuredRow, "measured", "Measured on the validation sample"),
            drawn(_agreement(facts), AgreementRow, "agreement", "Agreement of readers"),
            drawn(_settings(facts), SettingRow, "settings", "Settings, versions and seeds"),
            drawn(commands, CommandRow, "commands", "Commands that repeat every number"),
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


@dataclass(frozen=True, slots=True)
class CountRow:
    """A number of things."""

    counted: Annotated[str, column("Counted")]
    count: Annotated[int, column("Count")]


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """How right the verdict or a pass is, with intervals."""

    called: Annotated[str, column("Called duplicates by")]
    precision: Precision
    precision_low: Low
    precision_high: High
    recall: Annotated[float | None, column("Recall", SHARE)]
    recall_low: Low
    recall_high: High
    f1: Annotated[float | None, column("F1", SHARE)]


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """How well two readers agree, with the interval of kappa."""

    of: Annotated[str, column("Of")]
    readings: Annotated[int, column("Pairs")]
    agreed: Annotated[float, column("Agreed", SHARE)]
    kappa: Annotated[float | None, column("Kappa")]
    kappa_low: Annotated[float | None, column("95% from")]
    kappa_high: Annotated[float | None, column("95% to")]


@dataclass(frozen=True, slots=True)
class SettingRow:
    """What a number depends on."""

    part: Annotated[str, column("Part")]
    setting: Annotated[str, column("Setting")]
    value: Annotated[str, column("Value")]


@dataclass(frozen=True, slots=True)
class CommandRow:
    """A command."""

    command: Annotated[str, column("Command")]


def _counts(facts: Facts) -> Iterator[CountRow]:
    counts = facts.counts
    yield CountRow("articles", counts.articles)
    yield CountRow("newspapers", counts.newspapers)
    yield CountRow("proposed pairs", counts.pairs)
    for verdict, pairs in counts.verdicts.items():
        yield CountRow(f"of them with the verdict {verdict}", pairs)
    for detection_pass in facts.passes:
        yield CountRow(f"pairs of the pass {detection_pass.label}", detection_pass.pairs)
    yield CountRow("pairs that editors have decided", counts.decided_pairs)
    yield CountRow("clusters", counts.clusters)
    yield CountRow("articles in clusters", counts.clustered_articles)
    yield CountRow("articles that duplicate another one", counts.duplicate_articles)
    yield CountRow("articles stored or changed since the run", counts.changed_since_run)


def _measured(facts: Facts) -> Iterator[MeasuredRow]:
    if facts.measured is None:
        return
    rows = {"the verdict": facts.measured.verdict}
    rows |= {label_of_pass(name): numbers for name, numbers in facts.measured.passes.items()}
    for name, numbers in rows.items():
        yield MeasuredRow(name, *_interval(numbers, "precision"), *_interval(numbers, "recall"), numbers["f1"])


def _interval(numbers: dict[str, Any], name: str) -> tuple[float | None, float | None, float | None]:
    return numbers[name], *(numbers[f"{name}_interval"] or (None, None))


def _agreement(facts: Facts) -> Iterator[AgreementRow]:
    for found in facts.agreement:
        interval = found.kappa_interval or (None, None)
        yield AgreementRow(found.of, found.readings, found.share, found.kappa, *interval)


def _settings(facts: Facts) -> Iterator[SettingRow]:
    for name, version in facts.versions.items():
        yield SettingRow("versions", name, version)
    yield SettingRow("model", "version", str(facts.model["version"]))
    yield SettingRow("model", "called duplicate from", f"{facts.model['threshold']:g}")
    for name, seed in facts.seeds.items():
        yield SettingRow("seeds", name, str(seed))
    if facts.run:
        yield SettingRow("run", "profile", str(facts.run["profile"]))
        yield SettingRow("run", "boilerplate", str(facts.run["boilerplate"]))
    for detection_pass in facts.passes:
        for name, value in detection_pass.settings.items():
            yield SettingRow(detection_pass.label, name, str(value))


def _bounds(scope: Scope) -> list[str]:
    """Return the options of a command for the scope."""
    options: list[str] = []
    for name, day in (("since", scope.since), ("until", scope.until)):
        options += [f"--{name}", day.isoformat()] if day else []
    names = Newspaper.objects.filter(pk__in=scope.newspaper_ids or ()).order_by("name").values_list("name", flat=True)
    for name in names:
        options += ["--newspaper", name]
    return options
