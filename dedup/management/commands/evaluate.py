"""`manage.py evaluate`: measure passes and verdicts against pairs that people have labelled."""

from argparse import BooleanOptionalAction
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from articles.management.arguments import add_workers_option
from articles.management.base import LongCommand
from dedup.detection.passes import PASSES
from dedup.detection.runs.profiles import ProfileError
from dedup.management.arguments import CORPUS_EXIT_CODES, add_corpus_option, add_profile_options, chosen_detection
from dedup.models import DetectionRun
from dedup.reports.drawing import evaluation_charts, svg
from dedup.research import apart
from dedup.research.answers import Answer
from dedup.research.clusters import FoundClusters, compared, find_clustered, read_clusters
from dedup.research.corpora import cross_table, learning_curve
from dedup.research.labels import LabelsError, find_labelled, read_label_files
from dedup.research.measure import Measured, about, measured, run_facts
from dedup.research.print import print_clusters, print_corpora, print_problems, print_report
from dedup.research.sampling import find_sample, read_sample

# Options that only apply to a run on --articles or --corpus.
_OF_A_RUN = ("profile", "passes", "boilerplate")


class Command(LongCommand):
    """Read the labels, run if articles are given, measure, print. Results go to stdout, all else to stderr."""

    help = (
        "Measure how well the passes and the verdicts agree with labelled pairs: precision, recall, F1, calibration, "
        "the confusion matrix and every error. It uses the stored articles, or those of --articles, which are kept "
        "apart and dropped afterwards. With --corpus, it also fits models on some corpora and judges them on others."
    )

    resuming = "Nothing was stored."
    exit_codes = CORPUS_EXIT_CODES

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument(
            "--articles",
            metavar="FILE",
            help="import this file into a temporary schema and run there (default: the stored articles and verdicts)",
        )
        parser.add_argument(
            "--labels",
            nargs="+",
            action="extend",
            metavar="FILE",
            help="JSON lines or CSV, also .gz, with a and b (external ids) or url_a and url_b, label (D, V, T, E, N), "
            "and optionally weight, stratum, days; several files count as one",
        )
        parser.add_argument(
            "--sample",
            metavar="NAME",
            help="measure against the labels of this validation sample (name or number) instead of --labels",
        )
        parser.add_argument(
            "--clusters",
            metavar="FILE",
            help="compare the clusters with those of this file instead: JSON lines or CSV, also .gz, with id (external "
            "id) or url, and cluster (empty: the article is alone)",
        )
        add_corpus_option(
            parser, purpose="print the cross-corpus table, of models fitted on some corpora and judged on others"
        )
        parser.add_argument(
            "--learning-curve",
            action="store_true",
            help="with --corpus: also print what 20 to 200 decisions on a new corpus do to a model of the others",
        )
        add_profile_options(parser, condition="with --articles or --corpus: ")
        parser.add_argument(
            "--cross-validate",
            action=BooleanOptionalAction,
            default=True,
            help="also measure verdicts of models learnt from the labels of other dates (default: yes)",
        )
        parser.add_argument(
            "--thresholds",
            action=BooleanOptionalAction,
            default=True,
            help="also score every labelled pair with every pass, and print precision, recall and F1 for each lowest "
            "score (default: yes, unless --corpus is given)",
        )
        parser.add_argument("--format", choices=("text", "json", "svg"), default="text")
        parser.add_argument(
            "--chart",
            choices=("verdict", *PASSES),
            help="with --format svg: draw precision, recall and F1 of the verdict (default) or of this pass",
        )
        add_workers_option(parser, note="; used with --articles and --corpus")

    def handle(self, **options: Any) -> None:
        """Measure."""
        self.check_database()
        _check(options)
        if options["corpus"]:
            self._measure_corpora(options)
        elif options["clusters"]:
            self._compare_clusters(options)
        else:
            result = self._measured(options)
            self._print_problems(result["labels"]["problems"])
            if options["format"] == "svg":
                charts = {chart.name: chart for chart in evaluation_charts(result["thresholds"])}
                self.stdout.write(svg(charts[options["chart"] or "verdict"]))
            else:
                self.write_result(result, options, print_report)

    def _measured(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the report on a file of articles, or on the last run with pairs of label files or of a sample."""
        if options["articles"] is not None:
            corpus = apart.read_corpus(options["articles"], options["labels"])
            return self._measured_apart(corpus, chosen_detection(options, self.stderr.write), options).report
        run, of_sample = _last_run(), ""
        if options["sample"] is not None:
            sample = find_sample(options["sample"])
            read = read_sample(sample)
            if not read.pairs:
                raise LabelsError(
                    f"the validation sample {sample} has no labels yet; label its pairs, or import labels"
                )
            stored = apart.Detected(run, read.pairs, ())
            of_sample = f" Validation sample {sample}, seed {sample.seed}. {read.summary()}"
        else:
            paths = [Path(name) for name in options["labels"]]
            stored = apart.Detected(run, *find_labelled(*read_label_files(paths), paths))
        report = measured(
            stored, cross_validated=options["cross_validate"], sampled=False, thresholds=options["thresholds"]
        ).report
        report["about"] += of_sample
        return report

    def _measured_apart(self, corpus: apart.Corpus, how: apart.Detection, options: dict[str, Any]) -> Measured:
        """Import the articles into a temporary schema, run there, and measure."""
        with apart.detected(corpus, how) as found:
            several = bool(options["corpus"])
            return measured(
                found,
                corpus.articles,
                cross_validated=options["cross_validate"],
                sampled=several,
                thresholds=options["thresholds"] and not several,
            )

    def _measure_corpora(self, options: dict[str, Any]) -> None:
        """Measure each corpus in turn; then fit models on some of them, and judge them on the others."""
        corpora = apart.read_corpora(options["corpus"])
        if options["learning_curve"] and len(corpora) == 1:
            raise LabelsError("--learning-curve needs another corpus to start from; give --corpus twice or more")
        how = chosen_detection(options, self.stderr.write)
        samples: dict[str, Sequence[Answer]] = {}
        reports: dict[str, dict[str, Any]] = {}
        for name, corpus in corpora.items():
            found = self._measured_apart(corpus, how, options)
            self._print_problems(found.report["labels"]["problems"])
            samples[name], reports[name] = found.samples, found.report
        result = {
            "corpora": reports,
            "cross_corpus": cross_table(samples),
            "learning_curve": learning_curve(samples) if options["learning_curve"] else None,
        }
        self.write_result(result, options, print_corpora)

    def _compare_clusters(self, options: dict[str, Any]) -> None:
        """Compare the stored clusters, or those of a run on --articles, with the clusters of a file."""
        path = Path(options["clusters"])
        find = partial(find_clustered, *read_clusters(path), path)
        if options["articles"] is None:
            result = _clusters_of(_last_run(), None, find())
        else:
            articles = apart.readable_articles(options["articles"])
            with apart.run_apart(articles, chosen_detection(options, self.stderr.write), find) as (run, found):
                result = _clusters_of(run, articles, found)
        self._print_problems(result["clusters"]["problems"])
        self.write_result(result, options, print_clusters)

    def _print_problems(self, problems: Sequence[dict[str, Any]]) -> None:
        several = len({problem["file"] for problem in problems}) > 1
        lines = [
            f"{problem['file'] + ', ' if several else ''}line {problem['line']}: {problem['reason']}"
            for problem in problems
        ]
        print_problems(lines, self.stderr.write, more=" that do not count; --format json lists them all.")


def _check(options: dict[str, Any]) -> None:
    """Raise LabelsError or ProfileError for options that do not go together."""
    if options["corpus"] and (options["articles"] or options["labels"]):
        raise LabelsError("--corpus names articles and labels itself; leave out --articles and --labels")
    if options["chart"] and options["format"] != "svg":
        raise LabelsError(f"--chart {options['chart']} is drawn with --format svg only; add that")
    if options["format"] == "svg" and (options["corpus"] or options["clusters"] or not options["thresholds"]):
        raise LabelsError(
            "--format svg draws the numbers by threshold; leave out --corpus, --clusters, --no-thresholds"
        )
    if options["learning_curve"] and not options["corpus"]:
        raise LabelsError("--learning-curve is measured on several corpora; name them with --corpus")
    if options["clusters"] and (options["corpus"] or options["labels"]):
        raise LabelsError("--clusters is compared alone; leave out --labels and --corpus, and measure them separately")
    if options["sample"] and any(options[name] for name in ("articles", "labels", "corpus", "clusters")):
        raise LabelsError(
            "--sample has labels of stored articles; leave out --articles, --labels, --corpus, --clusters"
        )
    if not any(options[name] for name in ("corpus", "labels", "clusters", "sample")):
        raise LabelsError(
            "nothing to measure with; name a file of labels with --labels, a validation sample with --sample, corpora "
            "with --corpus, or clusters with --clusters"
        )
    if not (options["corpus"] or options["articles"]) and any(options[name] is not None for name in _OF_A_RUN):
        raise ProfileError(
            "--profile, --passes and --boilerplate apply to --articles and --corpus only; name a file with --articles "
            "too"
        )


def _clusters_of(run: DetectionRun, articles: Path | None, found: FoundClusters) -> dict[str, Any]:
    return {"about": about(run, articles), "run": run_facts(run, stored=articles is None), "clusters": compared(found)}


def _last_run() -> DetectionRun:
    """Return the run whose verdicts are measured. Raises ProfileError if there is none."""
    run = DetectionRun.objects.filter(state=DetectionRun.State.DONE).first()
    if run is None:
        raise ProfileError("no run has finished yet; run manage.py find_duplicates, or name a file with --articles")
    return run
