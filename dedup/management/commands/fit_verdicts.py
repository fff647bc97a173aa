"""`manage.py fit_verdicts`: learn a verdict model from editors' decisions, and show what it would change."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import CommandParser
from rich.table import Table

from articles.files.whole_files import whole_file
from articles.management.arguments import add_workers_option
from articles.management.base import ExitCode, LongCommand
from dedup.detection.verdicts.model import ModelError, dump_model
from dedup.management.arguments import CORPUS_EXIT_CODES, add_corpus_option, add_profile_options, chosen_detection
from dedup.models import FittedModel
from dedup.research import learning
from dedup.research.adjusting import Extent
from dedup.research.apart import detected, read_corpora
from dedup.research.corpora import fitted_on
from dedup.research.decided import MOST_OF_ONE
from dedup.research.labels import Label, find_articles, read_labels
from dedup.research.learning import LearningError
from dedup.research.lessons import SHOWN_CHANGES
from dedup.research.measure import samples_of
from dedup.research.print import console_on, print_problems, table_of

_STEPS = 4  # of learning
_ADJUSTED = {
    Extent.NOTHING: "They do not show that another model would be better: duplicates are judged as by the shipped one.",
    Extent.SCALE: "They show that the shipped model is too strict or too lenient here: its answers are adjusted.",
    Extent.ALL: "They show that other things count here: all coefficients for duplicates are adjusted.",
}
_REJUDGED = "The next run of find_duplicates judges all pairs with it."


class Command(LongCommand):
    """Learn, show, store; put the model into use only on request."""

    help = (
        "Learn from the pairs that editors confirmed and rejected how to judge this installation's articles, and show "
        "what would change. Nothing changes until --switch-on, or --use, puts the new model into use. With --corpus "
        "and --output, fit a model on labelled corpora and write it to a file, as the shipped model was made."
    )

    resuming = "No model was stored."
    exit_codes = {**CORPUS_EXIT_CODES, LearningError: ExitCode.USAGE, ModelError: ExitCode.USAGE}

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        doing = parser.add_mutually_exclusive_group()
        doing.add_argument("--switch-on", action="store_true", help="put the new model into use immediately")
        doing.add_argument("--use", metavar="MODEL", help=f"put this model into use: its number, or {learning.SHIPPED}")
        doing.add_argument("--list", action="store_true", help="list the models and show which one is in use")
        parser.add_argument(
            "--labels", metavar="FILE", help="also learn from these labelled pairs; the same files as for evaluate"
        )
        add_corpus_option(parser, purpose="with --output: fit on this")
        parser.add_argument("--output", metavar="FILE", help="with --corpus: the file to write the model to")
        add_profile_options(parser, condition="with --corpus: ")
        add_workers_option(parser, note="; used with --corpus")
        parser.add_argument("--format", choices=("text", "json"), default="text")

    def handle(self, **options: Any) -> None:
        """Use a model, list the models, learn one, or fit one on corpora."""
        if options["corpus"] or options["output"]:
            self._fit(options)
        elif options["use"] is not None:
            self._use(options)
        elif options["list"]:
            self._list(options)
        else:
            self._learn(options)

    def _fit(self, options: dict[str, Any]) -> None:
        """Fit a model on labelled corpora, each in a temporary schema, and write it to a file. Nothing is stored."""
        output = _checked_output(options)
        corpora = read_corpora(options["corpus"])
        # Nothing is judged, so a model can be fitted when the one that ships does not know the features of today.
        how = replace(chosen_detection(options, self.stderr.write), judging=False)
        samples = []
        for corpus in corpora.values():
            with detected(corpus, how) as detection:
                samples.append(samples_of(detection.found))
        model = fitted_on(samples)
        pairs = sum(model.learnt_from.values())
        named = replace(model, version=f"{pairs} labelled pairs of {len(samples)} corpora")
        with whole_file(output) as file:
            file.write(dump_model(named))
        counts = ", ".join(f"{count} {label}" for label, count in model.learnt_from.items())
        result = {"file": str(output), "learnt_from": dict(model.learnt_from)}
        said = f"Fitted on {named.version}: {counts}. Written to {output}."
        self.stdout.write(json.dumps(result) if options["format"] == "json" else said)

    def _use(self, options: dict[str, Any]) -> None:
        fitted = learning.use(options["use"])
        name = f"Model {fitted.pk}" if fitted else "The shipped model"
        said = json.dumps({"in_use": fitted.pk if fitted else learning.SHIPPED})
        self.stdout.write(said if options["format"] == "json" else f"{name} is in use. {_REJUDGED}")

    def _list(self, options: dict[str, Any]) -> None:
        rows: list[dict[str, Any]] = [
            {
                "model": model.pk,
                "learnt_at": model.fitted_at.isoformat(timespec="minutes"),
                "decisions": model.decisions,
                "in_use": model.in_use,
            }
            for model in FittedModel.objects.order_by("pk")
        ]
        in_use = not any(row["in_use"] for row in rows)
        shipped = {"model": learning.SHIPPED, "learnt_at": None, "decisions": 0, "in_use": in_use}
        self.write_result([shipped, *rows], options, _print_models)

    def _learn(self, options: dict[str, Any]) -> None:
        labels = self._labels(options["labels"])
        with self.progress(options) as progress:
            task = progress.add_task("learning", total=_STEPS)
            training = learning.training_set(labels)
            progress.advance(task)
            learnt = learning.learn(training)
            model = learnt.model
            progress.advance(task)
            agreed = learning.agreement(training, learning.held_out(training))
            progress.advance(task)
            change = learning.change_to(model)
            progress.advance(task)
        fitted = learning.store(model, training.decisions, in_use=options["switch_on"])
        result = {
            "model": fitted.pk,
            "in_use": fitted.in_use,
            "decisions": training.decisions,
            "left_out": training.left_out,
            "learnt_from": model.learnt_from,
            "adjusted": str(learnt.extent),
            "agreement": dict(zip(("tested", "in_use", "learnt"), agreed, strict=True)),
            "compared": len(change.compared),
            "judged": change.judged,
            "counts": learning.change_counts(change),
            "changed": learning.described_changes(change.changed[:SHOWN_CHANGES]),
        }
        self.write_result(result, options, self._print)

    def _labels(self, path: str | None) -> list[Label]:
        if path is None:
            return []
        labels, problems = read_labels(Path(path))
        found, unknown = find_articles(labels)
        every = sorted([*problems, *unknown], key=lambda problem: problem.line)
        lines = [f"line {problem.line}: {problem.reason}" for problem in every]
        print_problems(lines, self.stderr.write, more=" that do not count.")
        return found

    def _print(self, result: dict[str, Any], stream: TextIO) -> None:
        counts = ", ".join(f"{count} {label}" for label, count in result["learnt_from"].items())
        self.stdout.write(f"Learnt from {result['decisions']:,} decisions; pairs by label: {counts}.")
        if result["left_out"]:
            self.stdout.write(
                f"{result['left_out']:,} more decided pairs do not count: of the pairs that one decision on a cluster "
                f"or a dense group decides, at most {MOST_OF_ONE} do."
            )
        self.stdout.write(_ADJUSTED[Extent(result["adjusted"])])
        agreed = (
            "Of {tested:,} pairs, the model in use agrees with {in_use:,}, one learnt from other dates with {learnt:,}."
        )
        self.stdout.write(agreed.format(**result["agreement"]))
        if result["compared"] < result["judged"]:
            of_all = f"{result['compared']:,} of {result['judged']:,}"
            self.stdout.write(f"The changes below are those of {of_all} judged pairs.")
        table = table_of("What would change", ["Verdict now", "By the new model"], ["Pairs"])
        for row in result["counts"]:
            table.add_row(row["old"], row["new"], f"{row['pairs']:,}")
        console_on(stream).print(table)
        changes = sum(row["pairs"] for row in result["counts"] if row["old"] != row["new"])
        if changes > len(result["changed"]):
            self.stdout.write(f"The {len(result['changed'])} largest of {changes:,} changes:")
        for row in result["changed"]:
            probabilities = "duplicate {old_duplicate_probability:.2f} → {new_duplicate_probability:.2f}"
            self.stdout.write(f"\npair {row['pair']}: {row['old']} → {row['new']}, {probabilities.format(**row)}")
            for side in ("left", "right"):
                self.stdout.write(f"  {row[side]}")
        after = (
            f"It is in use. {_REJUDGED}"
            if result["in_use"]
            else f"It is not in use; manage.py fit_verdicts --use {result['model']} puts it into use."
        )
        self.stdout.write(f"\nStored as model {result['model']}. {after}")


def _print_models(rows: Sequence[dict[str, Any]], stream: TextIO) -> None:
    table = Table("Model", "Learnt at", "Decisions", "In use")
    for row in rows:
        table.add_row(str(row["model"]), row["learnt_at"] or "", f"{row['decisions']:,}", "yes" * row["in_use"])
    console_on(stream).print(table)


def _checked_output(options: dict[str, Any]) -> Path:
    """Return the file to write to. Raises LearningError for options that do not go together."""
    if not (options["corpus"] and options["output"]):
        raise LearningError("--corpus and --output go together: name the corpora to fit on, and the file to write to")
    if any(options[name] for name in ("labels", "use", "list", "switch_on")):
        raise LearningError("--corpus fits a model of its own; leave out --labels, --use, --list and --switch-on")
    output = Path(options["output"])
    if output.is_dir() or not output.absolute().parent.is_dir():
        raise LearningError(f"--output {output} is a folder, or in no folder; name a file in a folder that exists")
    return output
