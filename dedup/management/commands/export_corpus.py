"""`manage.py export_corpus`: writes the articles without their duplicates, for research."""

from typing import Any, ClassVar, get_args

from django.core.management.base import CommandParser

from articles.boilerplate.mode import Mode
from articles.files.exporting import TooManyColumnsError
from articles.management.arguments import add_boilerplate_option, add_scope_options, add_search_option, chosen_scope
from articles.management.base import ExitCode, LongCommand, usage_error
from articles.management.commands.find_boilerplate import mark_outdated_weeks
from articles.models import Article
from articles.storage.collections import known_kinds
from dedup.detection.clustering.policies import RULES, Policy
from dedup.detection.runs.scope import Scope
from dedup.detection.types import SameAs
from dedup.models import Cluster
from dedup.reports.methods import methods_of
from dedup.rows.corpus.other import OtherCorpus, OtherCorpusError, other_corpus
from dedup.rows.corpus.places import Asked
from dedup.rows.corpus.writing import CorpusFormat, Counts, Target, target_named, write_corpus
from dedup.rows.files import check_parquet


class Command(LongCommand):
    help = (
        "Exports the articles without their duplicates, with a list of what was removed and why, and a description "
        "with the data dictionary, the settings and the hash of each file. The same archive gives the same bytes, and "
        "a failed export leaves no partial file."
    )

    resuming = "No partial file was left; run the same command again."
    exit_codes: ClassVar = {OtherCorpusError: ExitCode.USAGE, TooManyColumnsError: ExitCode.ERROR}

    def add_arguments(self, parser: CommandParser) -> None:
        rules = " ".join(f"{policy.value}: {rule}" for policy, rule in RULES.items())
        parser.add_argument("--policy", required=True, choices=[policy.value for policy in Policy], help=rules)
        parser.add_argument(
            "--output",
            required=True,
            metavar="FILE",
            help="write the corpus to this .jsonl, .jsonl.gz, .csv, .csv.gz or .parquet file; for NAME.csv, what was "
            "removed goes to NAME.removed.csv, and the description to NAME.json",
        )
        parser.add_argument(
            "--format", choices=get_args(CorpusFormat), help="the format, if FILE has no ending (default: its ending)"
        )
        parser.add_argument(
            "--clusters",
            choices=["all", "confirmed"],
            default="all",
            help="all: proposed and confirmed clusters; confirmed: only those that decisions alone hold together "
            "(default: %(default)s)",
        )
        parser.add_argument(
            "--same",
            choices=[same_as.value for same_as in SameAs],
            help="what counts as the same in this corpus alone; nothing is stored (default: as in the clusters)",
        )
        parser.add_argument(
            "--together",
            default="",
            metavar="KIND",
            help="count the newspapers of each collection of this kind as one: owner, edition, country or another",
        )
        parser.add_argument(
            "--against",
            metavar="RUN|FILE",
            help="leave out what another corpus has, and copies of it: the articles that were there when this run "
            "started, by its number, or those of a file with the column url, external_id or id",
        )
        add_boilerplate_option(parser)
        add_scope_options(parser)
        add_search_option(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            target = target_named(options["output"], options["format"])
        except ValueError as error:
            raise usage_error(f"--output: {error}.") from error
        if options["together"] and options["together"] not in known_kinds():
            raise usage_error(
                f"--together: no collection is by {options['together']!r}; use {', '.join(known_kinds())}."
            )
        if target.file_format == "parquet":
            check_parquet()
        other = other_corpus(options["against"]) if options["against"] else None
        said = options | {"confirmed": options["clusters"] == "confirmed"}
        part = Scope(**chosen_scope(options), words=options["search"])
        asked = Asked.of(part, said, f"also in {other.name}" if other else "")
        if not options["same"] and not Cluster.objects.exists():
            self.stderr.write("There are no clusters, so no article has copies; find_duplicates finds them.")
        counts = self._write(asked, other, target, options)
        if rows := counts.other.get("rows_without_an_article_here"):
            self.stderr.write(f"Rows of the other corpus without an article here: {rows:,}.")
        self.stdout.write(f"Articles: {counts.chosen:,}. Kept: {counts.kept:,}. Removed: {counts.removed.total():,}.")
        for reason, articles in sorted(counts.removed.items()):
            self.stdout.write(f"  {reason}: {articles:,}")
        self.stdout.write(f"Written: {target.path}, {target.removed.name}, {target.described.name}.")

    def _write(self, asked: Asked, other: OtherCorpus | None, target: Target, options: dict[str, Any]) -> Counts:
        part = asked.part
        with self.progress(options) as progress:
            if asked.boilerplate is not Mode.KEEP:
                mark_outdated_weeks(progress, newspaper_ids=part.newspaper_ids, since=part.since, until=part.until)
            task = progress.add_task("articles", total=Article.objects.in_scope(**part.bounds()).count())
            counts, _ = write_corpus(
                asked,
                other,
                target,
                methods=methods_of(asked.part),
                on_progress=lambda articles: progress.update(task, advance=articles),
            )
        return counts
