"""What tests of runs share: the command, the texts of a story, and the rows that a run leaves."""

import json
import time
from collections.abc import Callable
from typing import Any

from dedup.models import (
    Cluster,
    CrowdedArticle,
    DenseGroup,
    DetectionRun,
    Evidence,
    Membership,
    NewspaperMonth,
    Pair,
    RunBlock,
    Series,
    Watermark,
)
from tests.commands import called

WIRE = (
    "The harbour authority of Port Selby said on Monday that the northern breakwater will close for six weeks while "
    "divers replace the anchor chains. Fishing boats may use the southern basin free of charge until the work is done."
)
# The scope of a run of everything.
EVERYTHING = {
    **dict.fromkeys(("since", "until", "newspapers", "passes", "newer_than")), "boilerplate": "keep", "rules": []
}  # fmt: skip
_OF_RUNS = (CrowdedArticle, DenseGroup, Membership, Cluster, Evidence, Pair, RunBlock, DetectionRun, NewspaperMonth)


def command(name: str, *options: str) -> tuple[str, str]:
    """Run a command without progress bars; return what it printed, and what it said besides."""
    return called(name, *options, "--no-progress")


def wait_until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds, for a minute at most."""
    deadline = time.monotonic() + 60
    while not (holds := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert holds


def find_duplicates(*options: str) -> dict[str, Any]:
    """Run the detection in this process; return its JSON, and what it said besides as `said`."""
    printed, said = command("find_duplicates", *options, "--format=json", "--workers=1")
    return {**json.loads(printed), "said": said}


def pairs_by_pass(summary: dict[str, Any]) -> dict[str, int]:
    """Return how many pairs each pass of a run found."""
    return {name: counted["pairs"] for name, counted in summary["passes"].items()}


def live_rows() -> dict[str, Any]:
    """Return the evidence that is not stale, the pairs that it proposes, clusters and dense groups, without numbers."""
    ends = ("pair__left", "pair__right", "pass_name")
    evidence = Evidence.objects.filter(stale=False).order_by(*ends).values_list(*ends, "score", "details")
    pairs = Pair.objects.proposed().order_by("left", "right")
    clusters = (sorted(cluster.memberships.values_list("article", flat=True)) for cluster in Cluster.objects.all())
    groups = (sorted(group.members.values_list("article", flat=True)) for group in DenseGroup.objects.all())
    return {
        "evidence": list(evidence),
        "pairs": list(pairs.values_list("left", "right", "best_score", "state", "verdict", "joins")),
        "clusters": sorted(clusters),
        "groups": sorted(groups),
    }


def forget_runs() -> None:
    """Remove all that runs have stored."""
    for model in (*_OF_RUNS, Series, Watermark):
        model.objects.all().delete()
