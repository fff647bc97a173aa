"""How well the lineage of invented newspapers is found (docs/lineage.md): the development set, on which the rules were
chosen, or the held-back set.
"""

import argparse

from dedup.detection.lineage.articles import KIND_LABELS, Confidence, Kind
from tests.dedup.lineage import development_stories, held_back_stories
from tests.dedup.lineage.scenarios import scenario
from tests.dedup.lineage.scores import Scores, score

DEVELOPMENT_SEEDS = range(1_000, 2_000)
HELD_BACK_SEEDS = range(50_000, 51_000)
KINDS = (Kind.WIRE, Kind.RELEASE, Kind.NEWSPAPER, Kind.COMMON)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--held-back", action="store_true", help="the held-back set, not the development set")


def run(options: argparse.Namespace) -> None:
    """Print the scores of one of the two sets."""
    chosen = (held_back_stories, HELD_BACK_SEEDS) if options.held_back else (development_stories, DEVELOPMENT_SEEDS)
    material, seeds = chosen
    print_scores(score(scenario(material, seed) for seed in seeds))


def print_scores(scores: Scores) -> None:
    """Print the scores as they are in the documentation."""
    print("Who ran first: said for", scores.first_said, "and right", scores.first)
    for confidence in Confidence:
        print(f"Order of an arrow, {confidence}: right", scores.order[confidence])
    print("Direction, precision:", scores.direction)
    print("Direction, recall:", scores.direction_found)
    print("The very article it was taken from, recall:", scores.parents)
    print("Copying between newspapers, precision:", scores.copying)
    print("Copying between newspapers, recall:", scores.copied)
    for kind in KINDS:
        print(f"{KIND_LABELS[kind]}: precision {scores.precision(kind)}, recall {scores.recall(kind)}")
    for confidence in Confidence:
        print(f"Kind, {confidence}: right", scores.by_confidence[confidence])
    for (true, found), count in sorted(scores.kinds.items()):
        print(f"  true {true}, found {found}: {count}")
