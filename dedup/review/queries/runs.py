"""The list of detection runs, and the page of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from dedup.models import DetectionRun, Profile, RunBlock
from dedup.runs.facts import PassCount, RuleFacts, pass_counts, rule_facts, run_facts, run_settings

BLOCKS_SHOWN = 200


@dataclass(frozen=True)
class RunDetails:
    """The options, progress and results of a run."""

    passes: list[PassCount]
    facts: list[tuple[str, str]]
    settings: list[tuple[str, list[tuple[str, Any]]]]
    blocks: QuerySet[RunBlock]
    block_number: int
    rules: list[RuleFacts]
    blocks_shown: int = BLOCKS_SHOWN


def latest_runs() -> QuerySet[DetectionRun]:
    """Return the runs with the users who started them, the latest first."""
    return DetectionRun.objects.select_related("requested_by").order_by("-started_at", "-id")


def nightly_profiles() -> QuerySet[Profile]:
    """Return the profiles with a nightly run, the next one first."""
    return Profile.objects.filter(nightly_due__isnull=False).order_by("nightly_due")


def run_details(run: DetectionRun) -> RunDetails:
    """Return what the page of a run shows."""
    return RunDetails(
        passes=pass_counts(run),
        facts=run_facts(run),
        settings=run_settings(run),
        blocks=run.blocks.order_by("-id")[:BLOCKS_SHOWN],
        block_number=run.blocks.count(),
        rules=[rule_facts(each) for each in run.scope.get("rules", [])],
    )
