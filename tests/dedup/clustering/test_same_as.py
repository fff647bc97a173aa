"""What counts as the same: pairs that are judged or stored, the preview, an export, and a changed profile."""

import csv
import random
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from dedup.detection.clustering.joins import joining_under
from dedup.detection.clustering.rebuild import expected_clusters
from dedup.detection.runs.scope import Scope
from dedup.detection.runs.tasks import clusters_job
from dedup.detection.types import Relation, SameAs
from dedup.detection.verdicts.same_as import is_same
from dedup.models import Cluster, Membership, Pair, Profile
from dedup.reports import REPORTS
from dedup.review.answers.decisions import decide_pair
from dedup.review.rules.profiles import save_profile
from tests.commands import called
from tests.conftest import StoreArticle
from tests.dedup.runs.running import find_duplicates
from tests.factories import make_pair

pytestmark = pytest.mark.django_db

VERDICTS = {Relation.COPY: "duplicate", Relation.CONTAINS: "duplicate", Relation.UPDATE: "version"}
TEXT = (
    "The night ferry from Port Selby to Carrack was cancelled on Friday after a pump failed, leaving 120 passengers "
    "on the quay. The harbour master, Edda Lorne, said that divers had found a rope around the propeller as well. "
    "Passengers were taken to the seamen's mission, where volunteers made soup."
)
MORE = (
    " Two school classes on the way to a choir festival missed the opening concert. The company promised to pay for "
    "hotel rooms and offered vouchers for the morning crossing. A crane had to be ordered from Inverlea, and the mayor "
    "asked the ministry for a second ferry before the summer, which the inspector called a good idea at once."
)


def stored_clusters() -> dict[tuple[int, ...], int]:
    """Return the kept article of each cluster, by its articles."""
    kept = {cluster.pk: cluster.kept_id for cluster in Cluster.objects.all()}
    members: dict[int, list[int]] = {pk: [] for pk in kept}
    for cluster, article in Membership.objects.order_by("article_id").values_list("cluster", "article"):
        members[cluster].append(article)
    return {tuple(articles): kept[pk] for pk, articles in members.items()}


def choose(same_as: SameAs) -> None:
    """Save the choice, and do what a worker is asked for."""
    profile = Profile.objects.get(is_default=True)
    profile.same_as = same_as
    if save_profile(profile):
        clusters_job(None)  # type: ignore[arg-type]


def exported(path: Path, *options: str) -> list[dict[str, Any]]:
    """Return both files of a corpus, without the numbers of clusters."""
    called("export_corpus", "--policy=one-per-cluster", f"--output={path}", *options)
    files = path, path.with_name(f"{path.stem}.removed.csv")
    rows = [row for file in files for row in csv.DictReader(file.read_text().splitlines())]
    return [row | {"cluster": bool(row["cluster"])} for row in rows]


def test_a_choice_makes_what_was_previewed_and_exported(store: StoreArticle, editor: User, tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    numbers = random.Random(seed)
    articles = [store(headline=f"Ferry {number}") for number in range(12)]
    for left, right in numbers.sample(list(combinations(articles, 2)), 30):
        relation, chance = numbers.choice(list(Relation)), numbers.choice([0.1, 0.7, 0.8, 0.9, 1.0])
        matched = numbers.choice([0.3, 0.5, 0.6, 1.0]), numbers.choice([0.3, 0.5, 0.9, 1.0])
        verdict = VERDICTS.get(relation, "similar")
        pair = make_pair(left, right, verdict=verdict, probability=chance, matched=matched, trigram=0.9)
        Pair.objects.filter(pk=pair.pk).update(relation=relation, duplicate_probability=chance)
    for pair, kind in zip(numbers.sample(list(Pair.objects.all()), 3), ("version", "version", "reject"), strict=True):
        decide_pair(pair.pk, kind, user=editor)

    for same_as in (SameAs.COPIES, SameAs.UPDATES, SameAs.CROPPED, SameAs.STATES):
        previewed = {ends: row.kept_id for ends, row in expected_clusters(same_as).items()}
        rows = {row.same_as: row for row in REPORTS["same"].result(Scope(), None).policies}
        written = exported(tmp_path / "asked.csv", f"--same={same_as}")
        joining = set(joining_under(same_as).values_list("pk", flat=True))
        choose(same_as)

        assert stored_clusters() == previewed
        assert set(Pair.objects.joining().values_list("pk", flat=True)) == joining
        for pair in Pair.objects.all():
            matched = pair.left_matched, pair.right_matched
            chance = pair.duplicate_probability
            assert pair.joins is is_same(same_as, pair.relation, chance, matched)  # type: ignore[arg-type]
        sizes = [len(ends) for ends in previewed]
        row = rows[same_as]
        assert (row.pairs, row.clusters) == (len(joining), len(sizes))
        assert (row.in_clusters, row.removed) == (sum(sizes), sum(sizes) - len(sizes))
        assert exported(tmp_path / "stored.csv") == written


def test_a_choice_gives_the_clusters_that_a_run_gives(store: StoreArticle) -> None:
    papers = ("Harbour Post", "Inland Courier", "Third Paper")
    texts = (TEXT, f"{TEXT} (Coast Agency)", f"{TEXT}{MORE * 3}")
    for paper, text in zip(papers, texts, strict=True):
        store(text, newspaper=paper, headline="Night ferry cancelled")
    find_duplicates()
    chosen = {}
    for same_as in SameAs:
        choose(same_as)
        chosen[same_as] = stored_clusters()
    for same_as in SameAs:
        Profile.objects.update(same_as=same_as)
        find_duplicates()
        assert stored_clusters() == chosen[same_as]
    assert [len(*clusters) for clusters in chosen.values()] == [2, 2, 3, 3]
