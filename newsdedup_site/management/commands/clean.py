"""`newsdedup clean FILE... -o CLEAN.csv`: from files to a corpus with each article once, in one command."""

import json
from io import StringIO
from pathlib import Path
from typing import Any, cast

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser

from articles.boilerplate.mode import Mode
from articles.files.importing import Tally, import_rows, reason_form
from articles.files.whole_files import whole_file
from articles.management.arguments import add_workers_option
from articles.management.base import LongCommand, usage_error
from articles.models import Article
from articles.storage.ingest import newest_revision
from articles.storage.title_affixes import settle_import
from articles.storage.workers import database_pool
from dedup.detection.clustering.policies import RULES, Policy
from dedup.detection.runs.scope import Scope
from dedup.models import DetectionRun
from dedup.reports.methods import methods_of
from dedup.rows.corpus.places import Asked
from dedup.rows.corpus.writing import Counts, Target, target_named, write_corpus
from dedup.rows.files import check_parquet
from newsdedup_site.cleaning.inputs import Input, JsonLines, chosen_columns, kind_of_input
from newsdedup_site.cleaning.report import expected_errors, report_html

_BATCH = 500
_SHOWN_REASONS = 10


class Command(LongCommand):
    """Read, detect, write. Its database is in a folder of its own (newsdedup/program.py)."""

    help = (
        "Removes the copies from files of articles: reads .csv, .jsonl, .parquet and .warc files or folders of .html "
        "pages, finds the duplicates, and writes the articles that are kept, those that are removed with the reason, "
        "and a report as one HTML file. It needs no database, server or settings. With --keep, all of it can be "
        "reviewed with newsdedup serve, and the next call uses the decisions."
    )
    resuming = "With --keep, the same command goes on where this one stopped; without it, nothing is left."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="file or folder to read")
        parser.add_argument(
            "-o",
            "--output",
            default="clean.csv",
            metavar="FILE",
            help="write the kept articles to this .csv, .jsonl (also .gz) or .parquet file; for NAME.csv, what is "
            "removed goes to NAME.removed.csv, a description to NAME.json, and the report to NAME.html (default: "
            "%(default)s)",
        )
        parser.add_argument(
            "--columns",
            default="",
            metavar="FIELD=COLUMN,...",
            help="columns that do not have the usual names, such as headline=Titel,content=Inhalt",
        )
        parser.add_argument("--newspaper", default="", metavar="NAME", help="newspaper of rows that do not name one")
        rules = " ".join(f"{policy.value}: {rule}" for policy, rule in RULES.items())
        policies = [policy.value for policy in Policy]
        parser.add_argument(
            "--policy", choices=policies, default=Policy.ONE_PER_CLUSTER.value, help=f"{rules} (default: %(default)s)"
        )
        parser.add_argument(
            "--keep", metavar="PROJECT", help="keep the articles and all that was found in this folder, for review"
        )
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")
        add_workers_option(parser)

    def handle(self, **options: Any) -> None:
        """Clean."""
        if not settings.IN_PROJECT:
            raise CommandError("clean makes a database of its own: call it as newsdedup clean or manage.py clean.")
        try:
            columns, target = chosen_columns(options["columns"]), target_named(options["output"], None)
        except ValueError as error:
            raise usage_error(f"{error}.") from error
        if target.file_format == "parquet":
            check_parquet()
        kinds = {path: kind_of_input(path) for path in options["files"]}
        self._say("Preparing a database", options)
        call_command("migrate", verbosity=0)
        inputs = [Input(path, columns) for path, kind in kinds.items() if kind == "rows"]
        imported = self._import(inputs, [path for path, kind in kinds.items() if kind == "warc"], options)
        if not Article.objects.exists():
            raise CommandError(f"No article could be read: {_reasons(imported['reasons'])}.")
        self._say("Finding duplicates", options)
        again = DetectionRun.objects.filter(state=DetectionRun.State.DONE).exists()
        own = {"no_progress": options["no_progress"], "workers": options["workers"]}
        call_command("find_duplicates", new=again, stdout=StringIO(), **own)
        self._say("Writing", options)
        counts = self._write(target, options)
        self._report(inputs, imported, counts, target, options)

    def _import(self, inputs: list[Input], archives: list[Path], options: dict[str, Any]) -> dict[str, Any]:
        """Store the articles of all inputs; return counts, and the reasons why rows were not used."""
        tally, faults, before, rejected = Tally(), list[str](), newest_revision(), list[str]()
        with database_pool(options["workers"]) as pool:
            for source in inputs:
                self._say(f"Reading {source.path}", options)
                stream = cast("Any", JsonLines(source.rows(), faults))
                self._say(_taken(source), options)
                for batch in import_rows(stream, "jsonl", pool=pool, batch_size=_BATCH, newspaper=options["newspaper"]):
                    rejected += [reason for _, reason in tally.add(batch)]
            settle_import(before, tally.outcomes["created"], pool)
        own = {"no_progress": options["no_progress"], "workers": options["workers"]}
        if archives:
            call_command("import_warc", *map(str, archives), stdout=self.stderr, **own)
        kinds: dict[str, list[str]] = {}
        for reason in (*faults, *rejected):
            kinds.setdefault(reason_form(reason), []).append(reason)
        return {
            "rows": tally.outcomes.total() + len(faults),
            "created": tally.outcomes["created"] + tally.outcomes["attached"],
            "known": tally.outcomes["known"],
            "rejected": len(faults) + len(rejected),
            # Each kind by its first reason, which names the value and the remedy.
            "reasons": {alike[0]: len(alike) for alike in sorted(kinds.values(), key=len, reverse=True)},
        }

    def _write(self, target: Target, options: dict[str, Any]) -> Counts:
        asked = Asked(Policy(options["policy"]), Scope(), Mode.KEEP, confirmed_only=False)
        with self.progress(options) as progress:
            task = progress.add_task("articles", total=Article.objects.count())
            counts, _ = write_corpus(
                asked,
                None,
                target,
                methods=methods_of(Scope()),
                on_progress=lambda articles: progress.update(task, advance=articles),
            )
        return counts

    def _report(
        self, inputs: list[Input], imported: dict[str, Any], counts: Counts, target: Target, options: dict[str, Any]
    ) -> None:
        """Write the report, and print the counts."""
        corpus: dict[str, Any] = {
            "chosen": counts.chosen,
            "kept": counts.kept,
            "removed": dict(sorted(counts.removed.items())),
            "total_removed": counts.removed.total(),
            "rule": RULES[Policy(options["policy"])],
        }
        report = target.path.with_name(f"{target.name}.html")
        with whole_file(report) as file:
            file.write(report_html(inputs, imported, corpus))
        written = [str(target.path), str(target.removed), str(target.described), str(report)]
        if options["json"]:
            told = {"read": imported, "corpus": corpus, "expected_errors": expected_errors(), "written": written}
            self.stdout.write(json.dumps(told, ensure_ascii=False))
            return
        self.stdout.write(f"Articles: {counts.chosen:,}. Kept: {counts.kept:,}. Removed: {counts.removed.total():,}.")
        for reason, articles in corpus["removed"].items():
            self.stdout.write(f"  {reason}: {articles:,}")
        if imported["rejected"]:
            self.stdout.write(f"Rows not used: {imported['rejected']:,} ({_reasons(imported['reasons'])}).")
        self.stdout.write(f"Written: {', '.join(written)}.")
        if options["keep"]:
            self.stdout.write(f"Review it: newsdedup serve {options['keep']}")

    def _say(self, words: str, options: dict[str, Any]) -> None:
        if words and not options["no_progress"]:
            self.stderr.write(words, self.style.NOTICE)


def _taken(source: Input) -> str:
    """Return what each column is taken for, in a line, and what had to be assumed."""
    used = [f"{use} from {column}" for column, use in source.uses.items() if use]
    kept = [column for column, use in source.uses.items() if not use]
    parts = [", ".join(used), f"kept as they are: {', '.join(kept)}" if kept else "", *source.notes]
    return f"  {'; '.join(filter(None, parts))}" if source.uses else ""


def _reasons(reasons: dict[str, int]) -> str:
    named = [f"{number:,} as this one: {reason}" for reason, number in list(reasons.items())[:_SHOWN_REASONS]]
    return "; ".join(named) or "the files have no rows"
