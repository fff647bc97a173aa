"""The page on which admins merge newspapers, and the lists that leave merged ones out."""

import pytest
from django.test import Client

from articles.models import Newspaper, NewspaperMerge
from articles.storage.locks import Lock
from crawlers.visits import newspapers_to_crawl
from tests.conftest import StoreArticle
from tests.databases import somebody_holds
from tests.factories import make_run
from tests.pages import notices

pytestmark = pytest.mark.django_db

PAGE = "/newspapers/merges/"


@pytest.fixture
def papers(store: StoreArticle) -> tuple[Newspaper, Newspaper]:
    main = [store(newspaper="Harbour Post") for _ in range(3)]
    old = [store(newspaper="harbour-prod-2", date=f"2026-03-0{day}") for day in (4, 6)]
    return old[0].newspaper, main[0].newspaper


def chosen(papers: tuple[Newspaper, Newspaper]) -> dict[str, int]:
    return dict(zip(("merged", "into"), (paper.pk for paper in papers), strict=True))


def test_the_page_shows_what_will_happen_then_merges_and_undoes(
    admin_client: Client, editor_client: Client, papers: tuple[Newspaper, Newspaper]
) -> None:
    page = admin_client.get(PAGE, chosen(papers))
    assert dict(page.context["preview"].facts) == {
        "articles that move": "2",
        "days": "2026-03-04 to 2026-03-06",
        "pairs with these articles": "0, 0 of them with articles of Harbour Post",
        "names and hosts that will find it": "harbour-prod-2",
    }
    assert not NewspaperMerge.objects.exists()
    assert PAGE not in editor_client.get("/crawls/").content.decode()

    page = admin_client.post(f"{PAGE}new/", chosen(papers), follow=True)
    assert notices(page.content.decode()) == [("success", ["2", "2"])]
    merge = NewspaperMerge.objects.get()
    assert (merge.merged, merge.into, merge.articles, str(merge.merged_by)) == (*papers, 2, "ada")
    assert f"{PAGE}{merge.pk}/undo/" in page.content.decode()

    page = admin_client.post(f"{PAGE}{merge.pk}/undo/", follow=True)
    assert notices(page.content.decode()) == [("success", ["2", "2"])]
    assert f"{PAGE}{merge.pk}/undo/" not in page.content.decode()
    assert papers[0].articles.count() == 2
    assert notices(admin_client.post(f"{PAGE}{merge.pk}/undo/", follow=True).content.decode())[0][0] == "error"


def test_what_makes_no_sense_is_refused(admin_client: Client, papers: tuple[Newspaper, Newspaper]) -> None:
    itself = {"merged": papers[0].pk, "into": papers[0].pk}
    page = admin_client.get(PAGE, itself)
    assert (page.status_code, "preview" in page.context) == (400, False)
    assert "harbour-prod-2 cannot be merged into itself" in page.content.decode()
    assert admin_client.get(PAGE, {"merged": papers[0].pk}).status_code == 200
    for values in (itself, {"merged": papers[0].pk, "into": 10**12}):
        refused = admin_client.post(f"{PAGE}new/", values, follow=True)
        assert notices(refused.content.decode())[0][0] == "error"
    with somebody_holds(Lock.RUN):
        refused = admin_client.post(f"{PAGE}new/", chosen(papers), follow=True)
    assert "another run is active on this database" in refused.content.decode()
    assert not NewspaperMerge.objects.exists()


def test_merged_newspapers_are_listed_nowhere(admin_client: Client, papers: tuple[Newspaper, Newspaper]) -> None:
    addresses = [
        "/articles/",
        "/queue/",
        "/clusters/",
        "/series/",
        "/boilerplate/",
        "/runs/new/",
        "/crawls/",
        "/reports/exact/",
    ]

    def listing() -> list[str]:
        return [address for address in addresses if f"{papers[0]}<" in admin_client.get(address).content.decode()]

    make_run()  # without one, the queue leads to the first run
    assert listing() == addresses
    admin_client.post(f"{PAGE}new/", chosen(papers))
    assert listing() == []
    assert [newspaper.name for newspaper in newspapers_to_crawl([])] == ["Harbour Post"]
    assert newspapers_to_crawl(["harbour-prod-2"]) == [papers[1]]
