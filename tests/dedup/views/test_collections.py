"""Collections of newspapers: their pages, and that one can be chosen wherever a newspaper can."""

import json
from itertools import product

import pytest
from django.contrib.admin.models import LogEntry
from django.http import QueryDict
from django.test import Client

from articles.models import Article, Collection, Newspaper
from articles.normalization.searches import read_search
from articles.storage.search_index import narrowed_to
from dedup.detection.runs.scope import Scope
from dedup.forms.exports import CorpusForm
from dedup.models import Cluster, StoredReport
from dedup.reports.computing import compute
from dedup.reports.sources import SourcesOptions, SourcesReport
from dedup.rows.clusters import ClusterFilter
from dedup.rows.pairs import PairFilter
from newsdedup_site.doctor.articles import INVARIANTS
from newsdedup_site.doctor.invariant import Sample
from tests.commands import printed, refused
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_collection, make_pair

pytestmark = pytest.mark.django_db

NAMES = ("Coast Asia", "Coast Africa", "Inland", "Selby Gazette")


@pytest.fixture
def papers(store: StoreArticle) -> list[Newspaper]:
    """Return four newspapers with an article each."""
    return [store(newspaper=name).newspaper for name in NAMES]


@pytest.fixture
def coast(papers: list[Newspaper]) -> Collection:
    """Return the collection of the first two."""
    return make_collection("owner", "Coast Media", *papers[:2])


def test_an_admin_makes_a_collection_fills_it_by_a_search_and_deletes_it(
    admin_client: Client, papers: list[Newspaper]
) -> None:
    made = admin_client.post("/newspapers/collections/new/", {"kind": " Owner", "name": " Coast Media "}, follow=True)
    coast = Collection.objects.get()
    assert (str(coast), made.redirect_chain[-1][0]) == ("Coast Media (owner)", f"/newspapers/collections/{coast.pk}/")
    again = admin_client.post("/newspapers/collections/new/", {"kind": "owner", "name": "Coast Media"}, follow=True)
    assert "There is a collection of this kind and name already." in again.content.decode()
    other = make_collection("owner", "Others", papers[1], papers[3])
    found = admin_client.get(made.redirect_chain[-1][0], {"q": "coast"}).context["found"]
    assert found == [(papers[1], "Others"), (papers[0], "")]
    page = f"/newspapers/collections/{coast.pk}/"
    put = admin_client.post(f"{page}put/", {"newspapers": [papers[0].pk, papers[1].pk]}, follow=True).content.decode()
    assert "1 newspaper left another collection by owner." in put
    assert [list(row.newspapers.all()) for row in (coast, other)] == [[papers[1], papers[0]], [papers[3]]]
    kept = [compute(SourcesReport(), Scope(), SourcesOptions(kind)) for kind in ("owner", "")]
    admin_client.post(f"{page}take/", {"newspapers": [papers[0].pk]})
    assert [bool(StoredReport.objects.get(pk=row.pk).result) for row in kept] == [False, True]
    admin_client.post(f"{page}rename/", {"name": "Coast Group"})
    listed = admin_client.get("/newspapers/collections/").context["rows"]
    assert [(str(row), *counts) for row, *counts in listed] == [("Coast Group (owner)", 1, 1), ("Others (owner)", 1, 1)]
    admin_client.post(f"{page}delete/")
    assert list(Collection.objects.all()) == [other]
    said = LogEntry.objects.order_by("pk").values_list("change_message", flat=True)
    assert list(said) == ["made it.", "put 2 newspapers in.", "took 1 newspaper out.", "renamed it.", "deleted it."]


def test_a_reader_sees_collections_and_changes_none(editor_client: Client, coast: Collection) -> None:
    assert "Make a collection" not in editor_client.get("/newspapers/collections/").content.decode()
    assert "Coast Africa" in editor_client.get(f"/newspapers/collections/{coast.pk}/").content.decode()
    assert editor_client.post(f"/newspapers/collections/{coast.pk}/delete/").status_code == 403


def test_lists_by_two_units_are_those_of_a_look_at_each_pair(papers: list[Newspaper], coast: Collection) -> None:
    africa = make_collection("continent", "Africa", papers[1], papers[2])
    articles = list(Article.objects.order_by("pk"))
    pairs = [make_pair(one, other) for number, one in enumerate(articles) for other in articles[number + 1 :]]
    units = {str(paper.pk): {paper.pk} for paper in papers} | {
        str(-row.pk): {paper.pk for paper in row.newspapers.all()} for row in (coast, africa)
    }
    for one, other in product(["", *units], repeat=2):
        query = QueryDict(f"newspaper={one}&other={other}&verdict=any&state=any")
        everything = {paper.pk for paper in papers}
        first, second = units.get(one, everything), units.get(other, everything)
        expected = {
            pair.pk
            for pair in pairs
            for left, right in [(pair.left.newspaper_id, pair.right.newspaper_id)]
            if (left in first and right in second) or (left in second and right in first)
        }
        assert set(PairFilter(query).qs.values_list("pk", flat=True)) == expected, (one, other)


def test_searches_commands_forms_and_the_api_take_a_collection(
    papers: list[Newspaper], coast: Collection, editor_client: Client
) -> None:
    africa = make_collection("continent", "Africa", papers[1], papers[2])

    def found(words: str) -> set[str]:
        return set(Article.objects.filter(narrowed_to(read_search(words))).values_list("newspaper__name", flat=True))

    assert found("collection:coast") == set(NAMES[:2])
    assert found("collection:coast newspaper:inland") == set(NAMES[:3])
    assert found("-collection:coast") == set(NAMES[2:])
    counted = json.loads(printed("newspapers", "--collection", "Coast Media", "--newspaper=Inland", "--format=json"))
    assert {row["name"] for row in counted} == set(NAMES[:3])
    page = editor_client.get("/reports/newspapers.json", {"newspapers": [-coast.pk, papers[2].pk]}).json()
    assert page == counted
    form = CorpusForm(QueryDict(f"newspapers={-coast.pk}&newspapers={papers[0].pk}"))
    assert form.is_valid()
    assert form.stored["newspapers"] == sorted(paper.pk for paper in papers[:2])
    empty = CorpusForm(QueryDict(f"newspapers={-make_collection('owner', 'Nobody').pk}"))
    assert empty.errors["newspapers"] == ["A collection that you chose is empty. Put newspapers in on its page."]
    one, _, _, other = Article.objects.order_by("pk")
    clusters = Cluster.objects.filter(pk=make_cluster(one, other).pk)
    found_in = [ClusterFilter({"newspaper": -unit.pk}, clusters).qs.count() for unit in (coast, africa)]
    assert found_in == [1, 0]
    rows = editor_client.get("/articles/", {"newspaper": -coast.pk}).context["page"].rows
    assert {row.newspaper.name for row in rows} == set(NAMES[:2])
    unknown = "no collection is named 'X'; known collections: Africa (continent), Coast Media (owner)"
    assert unknown in refused("report", "newspapers", "--collection=X")


def test_the_doctor_finds_a_newspaper_in_two_collections_of_a_kind(papers: list[Newspaper], coast: Collection) -> None:
    [look] = [invariant.look for invariant in INVARIANTS if invariant.name == "collections"]
    assert look(Sample(None, 0)).faults == 0
    make_collection("owner", "Others", papers[0])
    assert look(Sample(None, 0)).examples == (f"newspaper {papers[0].pk} is in 2 collections of the kind owner",)
