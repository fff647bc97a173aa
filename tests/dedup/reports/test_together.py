"""Newspapers of one collection count as one: as they would if all their articles were of one newspaper."""

import random
from collections import Counter
from typing import Any

import pytest

from articles.boilerplate.mode import Mode
from articles.models import Article, Newspaper
from articles.querysets import fetched
from dedup.detection.clustering.policies import Policy
from dedup.detection.runs.scope import Scope
from dedup.reports.network import NetworkOptions, NetworkReport
from dedup.reports.policies import PoliciesOptions, PoliciesReport
from dedup.reports.sources import SourcesOptions, SourcesReport
from dedup.rows.corpus.places import Asked, corpus_tables, decide_places
from dedup.rows.corpus.writing import Counts, description
from tests.commands import refused
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_collection

pytestmark = pytest.mark.django_db
NAMES = ("Coast Africa", "Coast Asia", "Coast Europe", "Inland", "Selby Gazette")
IDS = {"newspaper_id", "left_id", "right_id"}


def counted(kind: str) -> list[Any]:
    """Return what reports and corpora say, without the ids of newspapers."""

    def plain(rows: Any) -> list[Any]:
        fields = [name for name in type(rows[0]).__dataclass_fields__ if name not in IDS] if rows else []
        return [[getattr(row, name) for name in fields] for row in rows]

    sources = SourcesReport().result(Scope(), SourcesOptions(kind))
    network = NetworkReport().result(Scope(), NetworkOptions(kind, least=1))
    found = [plain(rows) for rows in (sources.newspapers, sources.pairs, network.nodes, network.edges)]
    found.append(PoliciesReport().result(Scope(), PoliciesOptions(together=kind)))
    for policy in Policy:
        with corpus_tables():
            decide_places(Asked(policy, Scope(), Mode.KEEP, confirmed_only=False, together=kind))
            found.append(fetched("SELECT article_id, reason, represented_by FROM corpus_place ORDER BY 1"))
    return found


@pytest.mark.parametrize("seed", range(5))
def test_a_collection_counts_as_a_newspaper_with_all_its_articles(store: StoreArticle, seed: int) -> None:
    drawn = random.Random(seed)
    articles = [store(newspaper=drawn.choice(NAMES), date=f"2026-03-{drawn.randint(1, 4):02}") for _ in range(24)]
    drawn.shuffle(articles)
    while len(articles) > 3:
        make_cluster(*(articles.pop() for _ in range(drawn.randint(2, min(6, len(articles))))))
    coast = list(Newspaper.objects.filter(name__startswith="Coast"))
    make_collection("owner", "Coast Media", *coast)
    together, apart = counted("owner"), counted("edition")
    assert apart == counted("")
    Article.objects.filter(newspaper__in=coast).update(newspaper=coast[0])
    Newspaper.objects.filter(pk=coast[0].pk).update(name="Coast Media")
    assert together == counted("")
    assert together != apart


def test_the_description_of_a_corpus_names_who_counted_as_one_and_another_kind_is_refused(store: StoreArticle) -> None:
    make_collection("owner", "Coast Media", store(newspaper="B").newspaper, store(newspaper="A").newspaper)
    asked = Asked(Policy.KEEP_ALL, Scope(), Mode.KEEP, confirmed_only=False, together="owner")
    words = description(asked, "", Counts(2, Counter(), {}), [], "")
    assert words["options"]["together"] == {"Coast Media": ["A", "B"]}
    assert words["methods"].endswith(" Newspapers of one collection by owner count as one.")
    known = "it must be one of country, edition, owner"
    assert f"together is 'x'; {known}" in refused("report", "sources", "--together", "x")
