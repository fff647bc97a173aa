"""The admin's page of a newspaper: its lists, and the learnt URL parameters."""

import pytest
from django.test import Client
from django.urls import reverse

from articles.models import ArticleURL, LearntParameter, Newspaper
from tests.conftest import StoreArticle
from tests.factories import client_of, make_user

pytestmark = pytest.mark.django_db
URL = "https://harbourpost.example/town/little-skerry-council"


@pytest.fixture
def staff(db: None) -> Client:
    return client_of(make_user("ada", "admin", is_staff=True))


def page_of(newspaper: Newspaper) -> str:
    return reverse("admin:articles_newspaper_change", args=[newspaper.pk])


def test_the_page_shows_the_learnt_parameters_and_their_urls(staff: Client) -> None:
    newspaper = Newspaper.objects.create(name="Harbour Post", kept_url_parameters=["sid"])
    LearntParameter.objects.create(
        newspaper=newspaper, name="sid", first_url=f"{URL}?sid=101", second_url=f"{URL}?sid=102"
    )

    page = staff.get(page_of(newspaper)).content.decode()
    assert "<strong>sid</strong>, " in page
    assert f"{URL}?sid=101" in page
    assert f"{URL}?sid=102" in page
    assert f"{Newspaper._meta.get_field('kept_url_parameters').help_text} " in page


def test_a_changed_list_updates_the_forms_and_keeps_what_was_learnt_in_the_meantime(
    staff: Client, store: StoreArticle
) -> None:
    newspaper = store(url=f"{URL}?sid=101&cid=1", newspaper="Harbour Post").newspaper
    store(url=f"{URL}?ref=top", newspaper="Harbour Post")
    fields = {"name": "Harbour Post", "host": "harbourpost.example", "crawl": "on"}

    def forms() -> list[str]:
        return list(ArticleURL.objects.order_by("id").values_list("normalized_url", flat=True))

    form = "http://harbourpost.example/town/little-skerry-council"
    assert forms() == [form, form]
    assert staff.post(page_of(newspaper), {**fields, "kept_url_parameters": "SID\n\nref"}).status_code == 302
    newspaper.refresh_from_db()
    assert newspaper.kept_url_parameters == ["ref", "sid"]
    assert forms() == [f"{form}?sid=101", f"{form}?ref=top"]
    assert staff.post(page_of(newspaper), {**fields, "kept_url_parameters": "sid"}).status_code == 302
    assert forms() == [f"{form}?sid=101", form]


def test_saving_an_old_page_does_not_remove_what_was_learnt_since(
    staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    newspaper = Newspaper.objects.create(name="Harbour Post", host="harbourpost.example")
    full_clean = Newspaper.full_clean

    def learn_meanwhile(self: Newspaper, *args: object, **kwargs: object) -> None:
        full_clean(self, *args, **kwargs)  # type: ignore[arg-type]
        Newspaper.objects.update(kept_url_parameters=["sid"])

    monkeypatch.setattr(Newspaper, "full_clean", learn_meanwhile)
    fields = {"name": "Harbour Post", "host": "harbourpost.example", "kept_url_parameters": "cid"}
    assert staff.post(page_of(newspaper), fields).status_code == 302
    newspaper.refresh_from_db()
    assert newspaper.kept_url_parameters == ["cid", "sid"]


def test_a_new_newspaper_is_added_with_its_parameters(staff: Client) -> None:
    fields = {"name": "Skerry Times", "host": "", "kept_url_parameters": "Story"}
    fields["boilerplate_articles"] = ""
    assert staff.post(reverse("admin:articles_newspaper_add"), fields).status_code == 302
    assert Newspaper.objects.get().boilerplate_articles == 3
    assert Newspaper.objects.get().kept_url_parameters == ["story"]
