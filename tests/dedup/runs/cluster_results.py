"""Results in a folder as a run on a cluster leaves them, made of what the last run here has stored."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
from django.db.models import Count
from pyarrow import parquet

from dedup.detection.spark.manifest import Manifest, Result, versions
from dedup.detection.spark.schema import CLUSTERS, EVIDENCE, HUBS, VERDICTS, Bundle, month_of
from dedup.detection.types import DENSE_GROUPS
from dedup.models import Cluster, CrowdedArticle, DetectionRun, Evidence, Membership, Pair

_JUDGED = [name for name in VERDICTS.names if name not in ("left", "right", "reasons")]


def write_results(root: Path) -> Result:
    """Write the results of the last run into the folder of an export made of the same articles."""
    bundle, run = Bundle(root), DetectionRun.objects.latest("pk")
    manifest = Manifest.read(bundle.manifest)
    checks = set()
    parts: defaultdict[Path, list[dict[str, Any]]] = defaultdict(list)
    judged: dict[int, tuple[str, dict[str, Any]]] = {}
    for evidence in Evidence.objects.filter(stale=False).select_related("pair__left", "pair__right"):
        pair = evidence.pair
        month = f"month={month_of(max(pair.left.date, pair.right.date))}"
        ends = {"left": pair.left_id, "right": pair.right_id}
        row = {**ends, "score": evidence.score, "details": json.dumps(evidence.details, ensure_ascii=False)}
        if evidence.pass_name == DENSE_GROUPS:
            checks.add(pair.pk)
        else:
            parts[bundle.evidence / f"pass_name={evidence.pass_name}" / month].append(row)
        values = {name: getattr(pair, name) for name in _JUDGED}
        judged[pair.pk] = month, {**ends, **values, "reasons": json.dumps(pair.reasons, ensure_ascii=False)}
    for number, (month, verdict) in judged.items():
        parts[(bundle.group_checks if number in checks else bundle.verdicts) / month].append(verdict)
    for hub in CrowdedArticle.objects.all():
        folder = bundle.hubs / f"pass_name={hub.pass_name}"
        parts[folder].append({"article": hub.article_id, "near": hub.near})
    for cluster in Cluster.objects.all():
        articles = sorted(Membership.objects.filter(cluster=cluster).values_list("article", flat=True))
        for article in articles:
            row = {"article": article, "cluster": articles[0], "lowest_score": cluster.lowest_score}
            parts[bundle.clusters].append({**row, "confirmed": cluster.state == Cluster.State.CONFIRMED})
    schemas = {bundle.evidence: EVIDENCE, bundle.hubs: HUBS, bundle.clusters: CLUSTERS}
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
        counts={"verdicts": dict(verdicts), "clusters": 0, "clustered_articles": 0},
        seconds={},
        finished_at="2026-03-09T12:00:00+00:00",
    )
    result.write(bundle.result)
    return result
