"""`manage.py measure_noise`: what damage to texts, as by scanning, costs every pass and the verdict."""

from typing import Any, TextIO

from django.core.management.base import CommandParser

from articles.management.arguments import add_workers_option, number_up_to
from articles.management.base import LongCommand
from benchmarks.noise import DATASKETCH, noise_table
from dedup.detection.runs.facts import label as label_of_pass
from dedup.management.arguments import CORPUS_EXIT_CODES, add_profile_options, chosen_detection
from dedup.research.apart import read_corpus
from dedup.research.print import console_on, table_of

_MOST_OTHERS = 1_000_000
_HEADINGS = {"verdict": "The verdict", "any": "Any pass that is on", DATASKETCH: "MinHash of datasketch, from 0.75"}


class Command(LongCommand):
    """Damage, run, count, print. Results go to stdout, all else to stderr."""

    help = (
        "Damage one side of labelled duplicates (letters misread, words hyphenated, texts cropped, paragraphs moved) "
        "and print the share that every pass and the verdict still find. It runs once for each kind of damage, on the "
        "labelled articles and some others of the file, which are kept apart and dropped afterwards."
    )

    resuming = "Nothing was stored."
    exit_codes = CORPUS_EXIT_CODES

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--articles", required=True, metavar="FILE", help="the articles, as for evaluate")
        parser.add_argument(
            "--labels", required=True, nargs="+", action="extend", metavar="FILE", help="the labels, as for evaluate"
        )
        parser.add_argument(
            "--others",
            type=number_up_to(_MOST_OTHERS),
            default=2_000,
            metavar="N",
            help="so many articles without labels are drawn at random and compared too (default: 2000)",
        )
        parser.add_argument(
            "--seed", type=int, default=1, help="what the damage and the other articles are drawn with (default: 1)"
        )
        add_profile_options(parser)
        parser.add_argument("--format", choices=("text", "json"), default="text")
        add_workers_option(parser)

    def handle(self, **options: Any) -> None:
        """Measure."""
        self.check_database()
        corpus = read_corpus(options["articles"], options["labels"])
        how = chosen_detection(options, self.stderr.write)
        result = noise_table(corpus, how, others=options["others"], seed=options["seed"])
        self.write_result(result, options, _print)


def _print(result: dict[str, Any], stream: TextIO) -> None:
    out = result["left_out"]
    left_out = f" {out:,} pairs are left out: their articles are in others." if out else ""
    stream.write(
        f"{result['duplicates']:,} labelled duplicates, one side of each damaged, among {result['articles']:,} "
        f"articles; seed {result['seed']}.{left_out}\n"
    )
    names = list(result["rows"][0]["recall"])
    headings = (_HEADINGS.get(name) or label_of_pass(name) for name in names)
    table = table_of("Share of the duplicates that are found", ["Damage"], headings)
    for row in result["rows"]:
        table.add_row(row["label"], *(f"{row['recall'][name]['recall']:.2f}" for name in names))
    console_on(stream).print(table)
    stream.write("--format json has the 95% intervals.\n")
    if DATASKETCH not in names:
        stream.write("MinHash of datasketch was left out: it is not installed. Install newsdedup[benchmarks] for it.\n")
