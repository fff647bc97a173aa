"""A whole run from start to finish: blocks of days, passes, evidence, verdicts, clusters."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.db.models import Count, Sum
from django.utils import timezone
from django.utils.module_loading import import_string

from articles.boilerplate.mode import Mode
from articles.models import Article
from articles.processes import THIS_PROCESS, Pool
from articles.storage.boilerplate_marks import mark_weeks
from articles.storage.boilerplate_weeks import NewspaperWeek, outdated_weeks
from articles.storage.ingest import newest_revision
from articles.storage.newspaper_merges import newspapers_to_renormalize
from articles.storage.renormalization import outdated_forms, renormalize
from articles.storage.workers import database_pool
from dedup.bounds import Rules
from dedup.clustering.changes import contradictions, update_clusters
from dedup.clustering.implications import update_version_implications
from dedup.clustering.questions import update_questions
from dedup.models import Cluster, DenseGroup, DetectionRun, Evidence, Membership, Pair, Profile, Verdict
from dedup.passes import PASSES
from dedup.passes.base import PassConfig
from dedup.passes.containment import ContainmentPass
from dedup.passes.sentence import SentencePass
from dedup.runs.crowded import forget_crowded
from dedup.runs.dense_groups import update_groups
from dedup.runs.earlier_runs import judged_by
from dedup.runs.evidence import WrittenBlock, mark_stale, update_article_facts, update_best_scores, write_block
from dedup.runs.group_checks import check_groups
from dedup.runs.headlines import update_series
from dedup.runs.judging import judge_outdated
from dedup.runs.phases import PHASES, Progress, RunCancelledError, RunClock
from dedup.runs.preparing import Preparation, preparations, prepared
from dedup.runs.profiles import Configs, enabled, ran_or_retired, snapshot
from dedup.runs.rules import find_pairs
from dedup.runs.scope import Scope, blocks_for, blocks_of, state_of_articles, texts_will_change, window_of
from dedup.runs.sentence_index import SENTENCE_INDEX, write_sentences
from dedup.runs.shingle_index import update_shingles
from dedup.runs.terms import RunTerms, terms_in_force
from dedup.runs.text_indexes import update_index
from dedup.runs.workers import execute
from dedup.types import (
    BEST_SCORES,
    BOILERPLATE,
    CLUSTERS,
    COUNTS,
    FORMS,
    GROUP_CHECKS,
    GROUPS,
    QUESTIONS,
    REPORTS,
    SENTENCES,
    SERIES,
    SHINGLES,
    STALE,
    STORING,
    VERDICTS,
    Tally,
    Window,
)

# Starting another process costs a second of work; it pays off for this many articles.
ARTICLES_PER_WORKER = 50_000


@dataclass(frozen=True, slots=True)
class BlockTask:
    """One block of one pass, as a task for any process."""

    run_id: int
    pass_name: str
    config: PassConfig
    window: Window
    articles: int
    rules: Rules = ()
    prepared: Any = None


class Results(Protocol):
    """What was found elsewhere, by a run that is only to be stored: what it writes is what a run here would write."""

    def store_pairs(self, run: DetectionRun, clock: RunClock) -> None:
        """Store the evidence and the crowded articles of every enabled pass, in blocks that are not repeated."""

    def store_verdicts(self, run: DetectionRun, clock: RunClock) -> None:
        """Store the verdicts on these pairs. What is not marked as judged then is judged here."""


def start_run(
    configs: Configs,
    scope: Scope,
    *,
    profile: Profile | None = None,
    user_id: int | None = None,
    by_itself: bool = False,
) -> DetectionRun:
    """Store a new run, or resume the last one if it stopped. Call inside `run_lock`.

    A run that stopped is resumed if its settings, its scope and the articles are still the same: its results are kept
    and its finished blocks are not repeated. Otherwise it is marked as interrupted, and a new run repairs what it left.
    A run that nobody asked for, started `by_itself`, does not resume one that was cancelled.
    """
    asked_as = profile.name if profile else ""
    asked = {"config": snapshot(configs), "scope": scope.stored()}
    end_killed_runs()
    last = DetectionRun.objects.order_by("-pk").first()
    stopped = (DetectionRun.State.INTERRUPTED, DetectionRun.State.FAILED)
    if (
        last is not None
        and last.state in stopped
        and {"config": last.config, "scope": last.scope} == asked
        and not last.results
        and not (by_itself and last.cancelled_at)
        and _is_unchanged(last, scope)
    ):
        last.profile, last.profile_name, last.requested_by_id = profile, asked_as, user_id
        return resumed(last)
    return DetectionRun.objects.create(
        profile=profile,
        profile_name=asked_as,
        requested_by_id=user_id,
        **asked,
    )


def end_killed_runs() -> None:
    """Mark runs whose process is gone as interrupted. Call inside `run_lock`."""
    DetectionRun.objects.filter(state=DetectionRun.State.RUNNING).update(
        state=DetectionRun.State.INTERRUPTED,
        finished_at=timezone.now(),
        error="The process ended unexpectedly (killed or crashed).",
    )


def resumed(stopped: DetectionRun) -> DetectionRun:
    """Store that a run that stopped goes on; return it."""
    stopped.state, stopped.finished_at, stopped.error = DetectionRun.State.RUNNING, None, ""
    stopped.cancelled_at = stopped.cancelled_by = None
    stopped.save()
    return stopped


def _is_unchanged(stopped: DetectionRun, scope: Scope) -> bool:
    """Return whether a run that stopped has compared the articles as they are; or none yet, if it was preparing."""
    if "fingerprint" not in stopped.counts:
        return True
    return not texts_will_change(scope) and bool(stopped.counts["fingerprint"] == state_of_articles(scope))


def _prepare(run: DetectionRun, scope: Scope, clock: RunClock, pool: Pool) -> None:
    """Bring up to date what the passes read, and note which articles the run compares."""
    with clock.phase(FORMS):
        update_forms(clock)
    if scope.boilerplate is not Mode.KEEP:
        with clock.phase(BOILERPLATE):
            mark_boilerplate(scope, clock, pool)
    if "fingerprint" not in run.counts:
        run.counts = {"fingerprint": state_of_articles(scope), "newest": newest_revision()}
        run.save(update_fields=["counts"])


def update_forms(progress: Progress) -> None:
    """Bring the forms of merged newspapers' articles up to date; show a bar only if there is anything to do."""
    if newspapers := newspapers_to_renormalize():
        progress.start(FORMS, outdated_forms(newspapers).count())
        for batch in renormalize(newspapers):
            progress.advance(FORMS, batch.articles, 0)


def _outdated_weeks(scope: Scope) -> dict[NewspaperWeek, int]:
    """Return the weeks whose boilerplate is to be marked, up to the scope's end: some passes compare all days."""
    return {} if scope.boilerplate is Mode.KEEP else outdated_weeks(scope.newspaper_ids, until=scope.until)


def mark_boilerplate(scope: Scope, progress: Progress, pool: Pool = THIS_PROCESS) -> None:
    """Mark the boilerplate of the weeks that have changed since they were marked."""
    weeks = _outdated_weeks(scope)
    progress.start(BOILERPLATE, sum(weeks.values()))
    for marked in mark_weeks(weeks, pool=pool):
        progress.advance(BOILERPLATE, marked.articles, marked.sentences)


def store_refused_run(scope: Scope, reason: str, *, profile: Profile, user_id: int | None) -> DetectionRun:
    """Store that a run could not start, for users who started it on a page and see no terminal."""
    return DetectionRun.objects.create(
        profile=profile,
        profile_name=profile.name,
        requested_by_id=user_id,
        config={},
        scope=scope.stored(),
        state=DetectionRun.State.FAILED,
        error=reason,
        finished_at=timezone.now(),
    )


def run_detection(
    run: DetectionRun,
    configs: Configs,
    scope: Scope,
    *,
    progress: Progress,
    workers: int = 1,
    verdicts: bool = True,
    results: Results | None = None,
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
    with database_pool(workers) as pool:
        try:
            # If a run was stopped, this one or the one before, the scores of any pair may be wrong.
            only_found = (
                scope.newer_than is not None and "fingerprint" not in run.counts and _follows_a_finished_run(run)
            )
            if results is None:
                _prepare(run, scope, clock, pool)
                _find_pairs(run, configs, scope, clock, pool)
            else:
                with clock.phase(*enabled(configs), STORING, shared=True):
                    results.store_pairs(run, clock)
            _update_pairs(run, configs, scope, clock, only_found=only_found)
            if verdicts:
                _judge_pairs(run, scope, clock, pool, results)
            pool.prepare(import_string(settings.BEFORE_END_OF_RUN), None)
            with clock.phase(CLUSTERS):
                update_version_implications()
                rebuilt = update_clusters(only_changed=scope.newer_than is not None)
            with clock.phase(QUESTIONS):
                if rebuilt.articles != set():
                    update_questions(rebuilt.articles)
            with clock.phase(COUNTS):
                counts = _counts(run, scope)
            _finish(run, DetectionRun.State.DONE, counts=counts | {"phases": clock.seconds()})
        except KeyboardInterrupt:
            _finish(run, DetectionRun.State.INTERRUPTED, error="Interrupted.")
            raise
        except RunCancelledError as error:
            _finish(run, DetectionRun.State.INTERRUPTED, error=str(error))
            raise
        except (OperationalError, InterfaceError):
            raise  # the database is lost, so nothing can be stored; the next run marks this one as interrupted
        except BaseException as error:
            _finish(run, DetectionRun.State.FAILED, error=f"{type(error).__name__}: {error}")
            raise
        else:
            # The run is done, whatever happens now.
            with suppress(RunCancelledError):
                unchanged = rebuilt.articles == set() and not _wrote(run)
                _count_reports(run, clock, pool, only_new=scope.newer_than is not None, unchanged=unchanged)
        finally:
            clock.close()


def _wrote(run: DetectionRun) -> bool:
    """Return whether a finished run stored or marked any evidence."""
    return bool(run.counts["pairs"] or run.counts.get("stale"))


def _count_reports(run: DetectionRun, clock: RunClock, pool: Pool, **changed: bool) -> None:
    """Bring up to date the reports that are counted after each run, which is done already: they read it as the last."""
    with clock.phase(REPORTS):
        import_string(settings.AFTER_RUN)(
            pool=pool,
            **changed,
            on_start=partial(clock.start, REPORTS),
            on_done=lambda reports: clock.advance(REPORTS, reports, 0),
        )
    run.counts = run.counts | {"phases": clock.seconds()}
    run.save(update_fields=["counts"])


def _phases(configs: Configs, scope: Scope, *, verdicts: bool, stored: bool) -> set[str]:
    """Return the phases of such a run; those that prepare or search are left out if results are only `stored`."""
    left_out = set(PASSES) - set(enabled(configs))
    if stored:
        left_out |= {FORMS, BOILERPLATE, SHINGLES}
    if scope.boilerplate is Mode.KEEP:
        left_out.add(BOILERPLATE)
    if not verdicts:
        left_out |= {SERIES, VERDICTS, GROUP_CHECKS}
        if ContainmentPass.name in left_out:
            left_out.add(SHINGLES)
    if SentencePass.name in left_out:
        left_out.add(SENTENCES)
    return set(PHASES) - left_out


def _follows_a_finished_run(run: DetectionRun) -> bool:
    states = DetectionRun.objects.filter(pk__lt=run.pk).order_by("-pk").values_list("state", flat=True)
    return states.first() == DetectionRun.State.DONE


def _find_pairs(run: DetectionRun, configs: Configs, scope: Scope, clock: RunClock, pool: Pool) -> None:
    """Do every block of every pass."""
    passes = enabled(configs)
    if SHINGLES in clock:
        with clock.phase(SHINGLES):
            update_shingles(clock, pool=pool, on_idle=clock.look)
    if SENTENCES in clock:
        with clock.phase(SENTENCES):
            update_index(SENTENCE_INDEX, write_sentences, clock, pool=pool, on_idle=clock.look)
    with clock.phase(*passes, STORING, shared=True):
        tasks, parts = _tasks(run, configs, scope, clock)
        at_most = max(1, sum(task.articles for task in tasks) // ARTICLES_PER_WORKER)
        shared = prepared(parts, pool=pool, at_most=at_most, on_idle=clock.look)
        execute(
            [dataclasses.replace(task, prepared=shared.get(task.pass_name)) for task in tasks],
            perform_block,
            pool=pool,
            at_most=at_most,
            on_read=lambda task, articles: clock.read(task.pass_name, articles),
            on_done=partial(_block_done, clock),
            on_idle=clock.look,
        )


def _update_pairs(run: DetectionRun, configs: Configs, scope: Scope, clock: RunClock, *, only_found: bool) -> None:
    """Bring up to date what follows from the evidence of the pairs.

    `only_found`: the scores of the pairs that the run neither finds nor misses are right.
    """
    stale: list[int] = []
    with clock.phase(STALE):
        for name, config in ran_or_retired(configs, scope.passes).items():
            stale += _mark_stale(run, name, config, scope)
    with clock.phase(BEST_SCORES):
        update_best_scores(run if only_found else None, stale)
        update_article_facts()
    with clock.phase(GROUPS):
        update_groups()


def _block_done(clock: RunClock, task: BlockTask, written: WrittenBlock) -> None:
    clock.worked(task.pass_name, written.finding_seconds)
    clock.worked(STORING, written.storing_seconds)
    clock.advance(task.pass_name, task.articles, written.pairs)


def _judge_pairs(run: DetectionRun, scope: Scope, clock: RunClock, pool: Pool, results: Results | None = None) -> None:
    """Give the pairs their verdicts, and compare more pairs of dense groups where clusters need them."""
    with clock.phase(SERIES):
        update_series(
            pool=pool,
            on_start=partial(clock.start, SERIES),
            on_done=lambda articles: clock.advance(SERIES, articles, 0),
            on_idle=clock.look,
        )
    with clock.phase(VERDICTS):
        if results is not None:
            results.store_verdicts(run, clock)
        # Where no pass finds anything, there may be no model yet: when one is fitted.
        proposed = Pair.objects.proposed().exists()
        terms = terms_in_force(versions_join=_versions_join(run), boilerplate=scope.boilerplate) if proposed else None
        if terms:
            _judge(terms, clock, pool)
    with clock.phase(GROUP_CHECKS):
        if terms:
            check_groups(run, terms)


def _judge(terms: RunTerms, clock: RunClock, pool: Pool) -> None:
    judge_outdated(
        terms,
        pool=pool,
        on_start=partial(clock.start, VERDICTS),
        on_read=partial(clock.read, VERDICTS),
        on_done=lambda pairs: clock.advance(VERDICTS, pairs, pairs),
        on_idle=clock.look,
    )


def _mark_stale(run: DetectionRun, pass_name: str, config: PassConfig, scope: Scope) -> list[int]:
    """Mark or remove what the run covered in a pass, and would have found, and did not find again.

    Returns the ids of the pairs that lost the evidence of this pass.
    """
    covered = scope.covered(pass_name)
    # Results that came from elsewhere say nothing of articles that were stored since.
    seen = {"up_to": run.counts["newest"] if run.results else None}
    pairs = mark_stale(run, pass_name, covered | seen | judged_by(pass_name, config, scope))
    forget_crowded(run, pass_name, only_new=covered["newer_than"] is not None)
    return pairs


def _versions_join(run: DetectionRun) -> bool:
    return run.profile is not None and run.profile.versions_join


def _tasks(
    run: DetectionRun, configs: Configs, scope: Scope, progress: Progress
) -> tuple[list[BlockTask], list[Preparation]]:
    """Return the tasks left, the largest first so that all workers are busy to the end, and what they need prepared."""
    tasks: list[BlockTask] = []
    parts: list[Preparation] = []
    every = blocks_of(scope)
    for name, config in enabled(configs).items():
        blocks = blocks_for(name, config, every, scope)
        articles = sum(block.articles for block in blocks)
        progress.start(name, articles)
        done = {mark.first_day: mark.pairs for mark in run.blocks.filter(pass_name=name)}
        windows = [window_of(name, block, scope) for block in blocks]
        for block, window in zip(blocks, windows, strict=True):
            if block.first_day in done:
                progress.advance(name, block.articles, done[block.first_day])
            else:
                tasks.append(BlockTask(run.pk, name, config, window, block.articles, scope.rules))
        if len(done) < len(blocks):
            parts += preparations(name, config, scope.rules, windows, articles)
    return sorted(tasks, key=lambda task: -task.articles), parts


def perform_block(task: BlockTask, on_read: Callable[[int], None]) -> WrittenBlock:
    """Find and store the pairs of a block."""
    tally = Tally(on_read)
    candidates = find_pairs(task.pass_name, task.config, task.rules, task.window, connection, tally, task.prepared)
    return write_block(task.run_id, task.pass_name, candidates, task.window, tally)


def _counts(run: DetectionRun, scope: Scope) -> dict[str, Any]:
    passes: dict[str, dict[str, Any]] = {}
    for mark in run.blocks.all():
        entry = passes.setdefault(mark.pass_name, {"candidates": 0, "verified": 0, "pairs": 0, "seconds": 0.0})
        entry["candidates"] += mark.candidates
        entry["verified"] += mark.verified
        entry["seconds"] = round(entry["seconds"] + mark.seconds, 3)
    found = Evidence.objects.found_by(run)
    for name, pairs in found.order_by().values_list("pass_name").annotate(Count("id")):
        if name in passes:  # the others are of dense groups, not of a pass
            passes[name]["pairs"] = pairs
    verdicts = Pair.objects.proposed().values_list("verdict").annotate(Count("id")).order_by()
    clusters, members = Cluster.objects.count(), Membership.objects.count()
    articles = Article.objects.count()
    return run.counts | {
        "articles": Article.objects.in_scope(scope.since, scope.until, scope.newspaper_ids).count(),
        "passes": passes,
        "pairs": found.values("pair").distinct().count(),
        "outdated": outdated_forms().count(),
        "verdicts": {verdict: dict(verdicts).get(verdict, 0) for verdict in Verdict.values},
        "clusters": clusters,
        "clustered_articles": members,
        "duplicate_articles": members - clusters,
        "duplicate_share": round((members - clusters) / articles, 6) if articles else 0.0,
        "contradictions": contradictions(),
        "dense_groups": DenseGroup.objects.count(),
        "dense_articles": DenseGroup.objects.aggregate(articles=Sum("size"))["articles"] or 0,
    }


def _finish(
    run: DetectionRun, state: DetectionRun.State, *, error: str = "", counts: dict[str, Any] | None = None
) -> None:
    run.state, run.error, run.finished_at = state, error, timezone.now()
    run.counts = counts or run.counts
    # Not the whole row: somebody may be cancelling the run.
    run.save(update_fields=["state", "error", "finished_at", "counts"])
