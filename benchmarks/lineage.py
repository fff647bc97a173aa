"""`python -m benchmarks.lineage`: how well the lineage of invented newspapers is found (docs/lineage.md).

python -m benchmarks.lineage                 the development set, on which the rules were chosen
python -m benchmarks.lineage --held-back     the held-back set
"""

from __future__ import annotations

import argparse

from dedup.detection.lineage.articles import KIND_LABELS, Confidence, Kind
from tests.dedup.lineage import development_stories, held_back_stories
from tests.dedup.lineage.scenarios import scenario
from tests.dedup.lineage.scores import Scores, score

DEVELOPMENT_SEEDS = range(1_000, 2_000)
HELD_BACK_SEEDS = range(50_000, 51_000)
KINDS = (Kind.WIRE, Kind.RELEASE, Kind.NEWSPAPER, Kind.COMMON)


def main() -> None:
    """Print the scores of one of the two sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-back", action="store_true", help="the held-back set, not the development set")
    held_back = parser.parse_args().held_back
    material, seeds = (held_back_stories, HELD_BACK_SEEDS) if held_back else (development_stories, DEVELOPMENT_SEEDS)
    print_scores(score(scenario(material, seed) for seed in seeds))


def print_scores(scores: Scores) -> None:
    """Print the scores as they are in the documentation."""
    print("Who ran first: said for", scores.first_said, "and right", scores.first)
    for each in Confidence:
        print(f"Order of an arrow, {each}: right", scores.order[each])
    print("Direction, precision:", scores.direction)
    print("Direction, recall:", scores.direction_found)
    print("The very article it was taken from, recall:", scores.parents)
    print("Copying between newspapers, precision:", scores.copying)
    print("Copying between newspapers, recall:", scores.copied)
    for kind in KINDS:
        print(f"{KIND_LABELS[kind]}: precision {scores.precision(kind)}, recall {scores.recall(kind)}")
    for each in Confidence:
        print(f"Kind, {each}: right", scores.by_confidence[each])
    for (true, found), count in sorted(scores.kinds.items()):
        print(f"  true {true}, found {found}: {count}")


if __name__ == "__main__":
    main()
