"""A run on a cluster, stage by stage."""

from __future__ import annotations

from typing import Any

from dedup.spark.manifest import BundleError, Configs, Manifest, Result
from dedup.spark.schema import Bundle


def run_stages(
    spark: Any, *, bundle: Bundle, manifest: Manifest, configs: Configs, tile_pairs: int, resume: bool
) -> Result:
    """Find, judge and cluster the pairs of an export; write `results/`, result.json last; return what is in that.

    `configs` are those of the manifest with the options of the run; only enabled passes run. A tile compares at most
    `tile_pairs` pairs of articles at a time. With `resume`, stages that an earlier run finished are kept. Raises
    BundleError.
    """
    raise BundleError(
        f"{bundle.root} cannot be run yet ({spark}, {manifest.articles}, {configs}, {tile_pairs}, {resume})"
    )
