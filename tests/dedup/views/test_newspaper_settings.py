"""The page of a newspaper's settings: its lists, its other names, what was learnt, and what others change meanwhile."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from articles.models import ArticleURL, LearntParameter, Newspaper, NewspaperAlias
from articles.storage.audit_log import logged_actions
from dedup.detection.runs.profiles import default_profile
from dedup.models import ProfileRule
from tests.conftest import StoreArticle
from tests.pages import opened

pytestmark = pytest.mark.django_db
URL = "https://harbourpost.example/town/little-skerry-council"


@pytest.fixture
def paper(db: None) -> Newspaper:
    return Newspaper.objects.create(name="Harbour Post", host="harbourpost.example", kept_url_parameters=["sid"])


def posted(client: Client, newspaper: Newspaper, **changed: str) -> dict[str, Any]:
    """Return what a browser sends of the page as it is now, with these fields changed."""
    form = client.get(reverse("newspaper_settings", args=[newspaper.pk])).context["form"]
    shown = {name: form[name].value() for name in form.fields}
    shown = {name: "" if value is None else value for name, value in shown.items()}
    sent = {name: value for name, value in shown.items() if value is not False}
    return {form[name].html_initial_name: value for name, value in shown.items()} | sent | changed


def send(client: Client, newspaper: Newspaper, fields: dict[str, Any]) -> str:
    """Send the form; return the page that follows, with the newspaper as it is stored then."""
    page = client.post(reverse("newspaper_settings", args=[newspaper.pk]), fields, follow=True).content.decode()
    newspaper.refresh_from_db()
    return page


def test_the_page_shows_what_was_learnt_and_leads_to_a_window_of_its_own(
    admin_client: Client, editor_client: Client, paper: Newspaper
) -> None:
    LearntParameter.objects.create(newspaper=paper, name="sid", first_url=f"{URL}?sid=101", second_url=f"{URL}?sid=102")
    Newspaper.objects.create(name="The Post", host="post.example", merged_into=paper)
    page = opened(admin_client, "newspaper_settings", paper.pk)
    for text in ("<strong>sid</strong>, ", f"{URL}?sid=101", f"{URL}?sid=102", "post.example"):
        assert text in page
    profile = default_profile()
    new = f'"{reverse("profile_rule_new", args=[profile.pk])}?newspaper={paper.pk}"'
    assert new in page
    assert f'value="{paper.pk}" selected' in admin_client.get(new.strip('"')).content.decode()
    rule = ProfileRule.objects.create(profile=profile, newspaper=paper, left_out=True)
    page = opened(admin_client, "newspaper_settings", paper.pk)
    assert (reverse("profile_rule", args=[profile.pk, rule.pk]) in page, new in page) == (True, False)

    settings = reverse("newspaper_settings", args=[paper.pk])
    for listing in ("/crawls/", f"/crawls/{paper.pk}/"):
        linked = [settings in client.get(listing).content.decode() for client in (admin_client, editor_client)]
        assert linked == [True, False]
    assert editor_client.get(settings).status_code == 403
    assert admin_client.get(f"/admin/articles/newspaper/{paper.pk}/change/")["Location"] == settings
    assert admin_client.get("/admin/articles/newspaper/")["Location"] == "/crawls/"


def test_a_changed_list_updates_the_forms_and_keeps_what_was_learnt_since_the_page_was_opened(
    admin_client: Client, store: StoreArticle
) -> None:
    paper = store(url=f"{URL}?sid=101&cid=1", newspaper="Harbour Post").newspaper
    store(url=f"{URL}?ref=top", newspaper="Harbour Post")

    def forms() -> list[str]:
        found = ArticleURL.objects.order_by("id").values_list("normalized_url", flat=True)
        return [form.removeprefix("http://harbourpost.example/town/little-skerry-council") for form in found]

    assert forms() == ["", ""]
    send(admin_client, paper, posted(admin_client, paper, kept_url_parameters="SID\n\nref"))
    assert (paper.kept_url_parameters, forms()) == (["ref", "sid"], ["?sid=101", "?ref=top"])
    opened_earlier = posted(admin_client, paper, kept_url_parameters="sid\npage", boilerplate_articles="")
    Newspaper.objects.update(kept_url_parameters=["ref", "sid", "story"], host="new.example", boilerplate_articles=5)
    send(admin_client, paper, opened_earlier)
    assert (paper.kept_url_parameters, forms()) == (["page", "sid", "story"], ["?sid=101", ""])
    assert (paper.host, paper.boilerplate_articles) == ("new.example", 3)
    said = logged_actions(Newspaper, object_id=paper.pk)[0].get_change_message()
    assert said == "Changed: Parameters that identify an article, Articles that make a sentence boilerplate."
    send(admin_client, paper, posted(admin_client, paper))
    assert logged_actions(Newspaper, object_id=paper.pk).count() == 2


def test_lists_are_edited_one_a_line_and_addresses_are_checked(admin_client: Client, paper: Newspaper) -> None:
    feeds = "https://ada:pass@harbour.example/feed?a=1,2\nhttps://harbour.example/other"
    fields = posted(admin_client, paper, title_affixes="Post\r\n\r\n  LIVE, now  \r\nPost", feed_urls=feeds)
    page = send(admin_client, paper, fields)
    assert paper.title_affixes == ["Post", "LIVE, now"]
    assert paper.feed_urls == ["https://harbour.example/feed?a=1,2", "https://harbour.example/other"]
    assert "https://harbour.example/feed?a=1,2\nhttps://harbour.example/other</textarea>" in page
    page = send(admin_client, paper, posted(admin_client, paper, feed_urls="ftp://x.example/", host="other.example"))
    assert "“ftp://x.example/”: Enter a valid URL." in page
    assert (len(paper.feed_urls), paper.host) == (2, "harbourpost.example")


def test_an_alias_is_no_name_of_another_newspaper_and_no_alias_of_one(admin_client: Client, paper: Newspaper) -> None:
    other = Newspaper.objects.create(name="harbour-prod-2")
    NewspaperAlias.objects.create(newspaper=other, alias="The Old Post")
    for field, value, fault in (
        ("aliases", "harbour-prod-2", "harbour-prod-2 is a newspaper. To join the two, merge harbour-prod-2 into this"),
        ("aliases", "The Old Post", "The Old Post is an alias of harbour-prod-2. Remove it there first."),
        ("name", "The Old Post", "The Old Post is an alias of harbour-prod-2. Remove the alias first."),
        ("name", "harbour-prod-2", "There is a newspaper of this name already."),
    ):
        assert fault in send(admin_client, paper, posted(admin_client, paper, **{field: value}))
    send(admin_client, paper, posted(admin_client, paper, aliases=" The  Post \nPost", boilerplate_articles="7"))
    opened_earlier = posted(admin_client, paper, aliases="Post\nHP")
    NewspaperAlias.objects.create(newspaper=paper, alias="since.example")
    send(admin_client, paper, opened_earlier)
    assert list(paper.aliases.values_list("alias", flat=True)) == ["HP", "Post", "since.example"]
    assert paper.boilerplate_articles == 7
