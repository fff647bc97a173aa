"""Results in a folder as a run on a cluster leaves them, made of what the last run here has stored."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
from django.db.models import Count
from pyarrow import parquet

from dedup.detection.spark.manifest import Manifest, Result, versions
from dedup.detection.spark.schema import EVIDENCE, HUBS, VERDICTS, Bundle, month_of
from dedup.detection.types import DENSE_GROUPS
from dedup.models import CrowdedArticle, DetectionRun, Evidence, Pair

_JUDGED = [name for name in VERDICTS.names if name not in ("left", "right", "reasons")]


def write_results(root: Path) -> Result:
    """Write the results of the last run into the folder of an export made of the same articles."""
    bundle, run = Bundle(root), DetectionRun.objects.latest("pk")
    manifest = Manifest.read(bundle.manifest)
    parts: defaultdict[Path, list[dict[str, Any]]] = defaultdict(list)
    judged: dict[int, tuple[str, dict[str, Any]]] = {}
    found = Evidence.objects.filter(stale=False).exclude(pass_name=DENSE_GROUPS)
    for evidence in found.select_related("pair__left", "pair__right"):
        pair = evidence.pair
        month = f"month={month_of(max(pair.left.date, pair.right.date))}"
        ends = {"left": pair.left_id, "right": pair.right_id}
        row = {**ends, "score": evidence.score, "details": json.dumps(evidence.details, ensure_ascii=False)}
        parts[bundle.evidence / f"pass_name={evidence.pass_name}" / month].append(row)
        values = {name: getattr(pair, name) for name in _JUDGED}
        judged[pair.pk] = month, {**ends, **values, "reasons": json.dumps(pair.reasons, ensure_ascii=False)}
    for month, verdict in judged.values():
        parts[bundle.verdicts / month].append(verdict)
    for hub in CrowdedArticle.objects.all():
        folder = bundle.hubs / f"pass_name={hub.pass_name}"
        parts[folder].append({"article": hub.article_id, "near": hub.near})
    schemas = {bundle.evidence: EVIDENCE, bundle.hubs: HUBS}
    for folder, rows in parts.items():
        schema = next((schema for top, schema in schemas.items() if folder.is_relative_to(top)), VERDICTS)
        folder.mkdir(parents=True)
        # The order of rows says nothing.
        parquet.write_table(pa.Table.from_pylist(rows[::-1], schema), folder / "part-0.parquet")
    verdicts = Pair.objects.proposed().values_list("verdict").annotate(Count("pk")).order_by()
    result = Result(
        manifest=manifest.fingerprint(),
        versions=versions(),
        config=manifest.config,
        passes=run.counts["passes"],
        counts={"verdicts": dict(verdicts)},
        seconds={},
        finished_at="2026-03-09T12:00:00+00:00",
    )
    result.write(bundle.result)
    return result
