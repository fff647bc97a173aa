"""A whole run from start to finish: blocks of days, passes, evidence, verdicts, clusters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils import timezone
from django.utils.module_loading import import_string

from articles.boilerplate.mode import Mode
from articles.processes import THIS_PROCESS, Pool, is_out_of_memory
from articles.storage.boilerplate_marks import mark_weeks, outdated_weeks
from articles.storage.ingest import newest_revision
from articles.storage.renormalization import newspapers_to_renormalize, outdated_forms, renormalize
from articles.storage.workers import database_pool
from dedup.detection.clustering.joins import update_joins
from dedup.detection.clustering.rebuild import renew_questions, update_clusters
from dedup.detection.passes import PASSES
from dedup.detection.runs.blocks import find_in_blocks
from dedup.detection.runs.dense_groups import check_groups, update_groups
from dedup.detection.runs.evidence import forget_hubs, mark_stale, update_article_facts, update_best_scores
from dedup.detection.runs.facts import counts_of
from dedup.detection.runs.headlines import update_series
from dedup.detection.runs.judging import judge_outdated, learn_recurring, terms_in_force
from dedup.detection.runs.outdated_verdicts import outdated_verdicts
from dedup.detection.runs.phases import Progress, RunCancelledError, RunClock, all_phases
from dedup.detection.runs.profiles import Configs, enabled, ran_or_retired
from dedup.detection.runs.scope import Scope, judged_by, state_of_articles
from dedup.detection.runs.text_indexes import SENTENCE_INDEX, update_index, update_shingles
from dedup.detection.types import Phase
from dedup.models import DetectionRun, Pair

if TYPE_CHECKING:
    from dedup.detection.runs.cluster.importing import StoredResults


def _prepare(run: DetectionRun, scope: Scope, clock: RunClock, pool: Pool) -> None:
    """Bring up to date what the passes read, and note which articles the run compares."""
    with clock.phase(Phase.FORMS):
        update_forms(clock)
    if scope.boilerplate is not Mode.KEEP:
        with clock.phase(Phase.BOILERPLATE):
            mark_boilerplate(scope, clock, pool)
    if "fingerprint" not in run.counts:
        run.counts = {"fingerprint": state_of_articles(scope), "newest": newest_revision()}
        run.save(update_fields=["counts"])


def update_forms(progress: Progress) -> None:
    """Bring the forms of changed newspapers' articles up to date; show a bar only if there is anything to do."""
    if newspapers := newspapers_to_renormalize():
        progress.start(Phase.FORMS, outdated_forms(newspapers).count())
        for batch in renormalize(newspapers):
            progress.advance(Phase.FORMS, batch.articles, 0)


def mark_boilerplate(scope: Scope, progress: Progress, pool: Pool = THIS_PROCESS) -> None:
    """Mark the boilerplate of the weeks that have changed, up to the scope's end: some passes compare all days."""
    weeks = outdated_weeks(scope.newspaper_ids, until=scope.until)
    progress.start(Phase.BOILERPLATE, sum(weeks.values()))
    for marked in mark_weeks(weeks, pool=pool):
        progress.advance(Phase.BOILERPLATE, marked.articles, marked.sentences)


def run_detection(
    run: DetectionRun,
    configs: Configs,
    scope: Scope,
    *,
    progress: Progress,
    workers: int = 1,
    verdicts: bool = True,
    results: StoredResults | None = None,
) -> None:
    """Execute a run: every pass over every block, what is stale, groups, verdicts, clusters. Call it in `run_lock`.

    If newspapers were merged, the forms of their articles are brought up to date first. If texts are compared without
    boilerplate, the boilerplate of outdated weeks is marked then. Without `verdicts`, pairs are not judged: new pairs
    join no cluster until a run with verdicts. With `results`, nothing is prepared or searched: they are stored.

    Each block's evidence and mark are stored in one transaction, so a run that is killed repeats only its unfinished
    blocks, one per worker process. An error that ends the run early is stored with it and raised; RunCancelledError
    if somebody cancelled it.
    """
    clock = RunClock(run, progress, _phases(configs, scope, verdicts=verdicts, stored=results is not None))
    with closing(clock):
        with _early_end_stored(run):
            before = DetectionRun.objects.filter(pk__lt=run.pk).order_by("-pk").first()
            # If a run was stopped, this one or the one before, the scores of any pair may be wrong.
            none_stopped = "fingerprint" not in run.counts and before and before.state == DetectionRun.State.DONE
            only_found = scope.newer_than is not None and bool(none_stopped)
            with database_pool(workers) as pool:
                if results is None:
                    _prepare(run, scope, clock, pool)
                    scope = _find_pairs(run, configs, scope, clock, pool)
                else:
                    with clock.phase(*enabled(configs), Phase.STORING, shared=True):
                        results.store_pairs(run, clock)
                _update_pairs(run, configs, scope, clock, only_found=only_found)
                if verdicts:
                    _judge_pairs(run, scope, clock, pool, results)
            with clock.phase(Phase.CLUSTERS):
                rebuilt = update_clusters(only_changed=scope.newer_than is not None)
            with clock.phase(Phase.QUESTIONS):
                renew_questions(rebuilt)
            with clock.phase(Phase.COUNTS):
                counts = counts_of(run, scope)
            _finish(run, DetectionRun.State.DONE, counts=counts | {"phases": clock.seconds()})
        # The run is done, whatever happens now.
        with suppress(RunCancelledError):
            wrote = run.counts["pairs"] or run.counts.get("stale")
            unchanged = rebuilt.articles == set() and not wrote
            _count_reports(run, clock, workers, only_new=scope.newer_than is not None, unchanged=unchanged)


@contextmanager
def _early_end_stored(run: DetectionRun) -> Iterator[None]:
    """Store why a run ends early; the error goes on to the caller."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        _finish(run, DetectionRun.State.INTERRUPTED, error="Interrupted.")
        raise
    except RunCancelledError as error:
        _finish(run, DetectionRun.State.INTERRUPTED, error=str(error))
        raise
    except (OperationalError, InterfaceError):
        raise  # the database is lost, so nothing can be stored; the next run marks this one as interrupted
    except BaseException as error:
        out_of_memory = "Memory ran out. The same run, started again, resumes"
        fault = out_of_memory if is_out_of_memory(error) else type(error).__name__
        _finish(run, DetectionRun.State.FAILED, error=f"{fault}: {error}")
        raise


def _count_reports(run: DetectionRun, clock: RunClock, at_a_time: int, **changed: bool) -> None:
    """Bring up to date the reports that are counted after each run, which is done already: they read it as the last."""
    with clock.phase(Phase.REPORTS):
        import_string(settings.AFTER_RUN)(
            at_a_time,
            **changed,
            on_start=partial(clock.start, Phase.REPORTS),
            on_done=lambda reports: clock.advance(Phase.REPORTS, reports, 0),
        )
    run.counts = run.counts | {"phases": clock.seconds()}
    run.save(update_fields=["counts"])


def _phases(configs: Configs, scope: Scope, *, verdicts: bool, stored: bool) -> set[str]:
    """Return the phases of such a run; those that prepare or search are left out if results are only `stored`."""
    left_out = set(PASSES) - set(enabled(configs))
    if stored:
        left_out |= {Phase.FORMS, Phase.BOILERPLATE, Phase.SHINGLES}
    if scope.boilerplate is Mode.KEEP:
        left_out.add(Phase.BOILERPLATE)
    if not verdicts:
        left_out |= {Phase.SERIES, Phase.RECURRING, Phase.VERDICTS, Phase.GROUP_CHECKS}
    # Verdicts read shingles, too.
    read = {PASSES[name].index for name in enabled(configs)} | ({Phase.SHINGLES} if verdicts else set())
    return set(all_phases()) - left_out - ({Phase.SHINGLES, Phase.SENTENCES} - read)


def _find_pairs(run: DetectionRun, configs: Configs, scope: Scope, clock: RunClock, pool: Pool) -> Scope:
    """Bring up to date what the passes look up, and do every block of every pass; return the scope as compared."""
    if Phase.SHINGLES in clock:
        with clock.phase(Phase.SHINGLES):
            update_shingles(clock, pool)
    if Phase.SENTENCES in clock:
        with clock.phase(Phase.SENTENCES):
            update_index(SENTENCE_INDEX, clock, pool)
    with clock.phase(*enabled(configs), Phase.STORING, shared=True):
        return find_in_blocks(run, configs, scope, clock, pool)


def _update_pairs(run: DetectionRun, configs: Configs, scope: Scope, clock: RunClock, *, only_found: bool) -> None:
    """Bring up to date what follows from the evidence of the pairs.

    `only_found`: the scores of the pairs that the run neither finds nor misses are right.
    """
    stale: list[int] = []
    # Results that came from elsewhere say nothing of articles that were stored since.
    seen = {"up_to": run.counts["newest"] if run.results else None}
    with clock.phase(Phase.STALE):
        for name, config in ran_or_retired(configs, scope.passes).items():
            covered = scope.covered(name)
            stale += mark_stale(run, name, covered | seen | judged_by(name, config, scope))
            forget_hubs(run, name, only_new=covered["newer_than"] is not None)
    with clock.phase(Phase.BEST_SCORES):
        update_best_scores(run if only_found else None, stale)
        update_article_facts()
    with clock.phase(Phase.GROUPS):
        update_groups()


def _judge_pairs(
    run: DetectionRun, scope: Scope, clock: RunClock, pool: Pool, results: StoredResults | None = None
) -> None:
    """Give the pairs their verdicts, and compare more pairs of dense groups where clusters need them."""
    with clock.phase(Phase.SERIES):
        update_series(clock, pool)
    if results is not None:
        with clock.phase(Phase.VERDICTS):
            results.store_verdicts(run, clock)
    # Where no pass finds anything, there may be no model yet: when one is fitted.
    update_joins()
    proposed = Pair.objects.proposed().exists()
    terms = terms_in_force(scope.boilerplate) if proposed else None
    outdated = None
    with clock.phase(Phase.RECURRING):
        if terms:
            outdated = outdated_verdicts(terms)
            learn_recurring(outdated, clock, pool)
    with clock.phase(Phase.VERDICTS):
        if outdated:
            judge_outdated(outdated, clock, pool)
    with clock.phase(Phase.GROUP_CHECKS):
        if terms:
            check_groups(run, terms)


def _finish(
    run: DetectionRun, state: DetectionRun.State, *, error: str = "", counts: dict[str, Any] | None = None
) -> None:
    run.state, run.error, run.finished_at = state, error, timezone.now()
    run.counts = counts or run.counts
    # Not the whole row: somebody may be cancelling the run.
    run.save(update_fields=["state", "error", "finished_at", "counts"])
