"""Tables for other programs, one file each: pairs, clusters with their articles, decisions."""

from __future__ import annotations

from dedup.exports.base import Export
from dedup.exports.clusters import CLUSTERS
from dedup.exports.decisions import DECISIONS
from dedup.exports.pairs import PAIRS

EXPORTS: dict[str, Export] = {each.name: each for each in (PAIRS, CLUSTERS, DECISIONS)}
