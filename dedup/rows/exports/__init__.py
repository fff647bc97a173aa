"""Tables for other programs, one file each: pairs, clusters with their articles, decisions."""

from __future__ import annotations

from dedup.rows.exports.base import Export
from dedup.rows.exports.clusters import CLUSTERS
from dedup.rows.exports.decisions import DECISIONS
from dedup.rows.exports.pairs import PAIRS

EXPORTS: dict[str, Export] = {each.name: each for each in (PAIRS, CLUSTERS, DECISIONS)}
