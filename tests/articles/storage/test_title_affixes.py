"""Every command that adds or updates articles learns the affixes of their newspapers."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from articles.models import Article, Newspaper
from articles.storage import title_affixes
from articles.storage.renormalization import outdated_forms
from articles.storage.title_affixes import affixes_line, update_affixes, update_affixes_and_forms
from tests.articles.rows import json_lines, row
from tests.commands import called, meanwhile
from tests.conftest import StoreArticle

pytestmark = pytest.mark.django_db
SUBJECTS = ("Ferry", "Council", "Lighthouse", "Library", "Orchestra", "Brewery", "Bakery", "Tramway", "Mayor", "School")
VERBS = ("opens bridge", "sells garden", "paints hall")
TITLES = [f"{subject} {verb}" for verb in VERBS for subject in SUBJECTS]


def store_titles(store: StoreArticle, form: str = "{} | Skerry Online", newspaper: str = "Harbour Post") -> None:
    for title in TITLES:
        store(headline=form.format(title), newspaper=newspaper)


def normalized_titles() -> list[str]:
    return list(Article.objects.order_by("pk").values_list("normalized_title", flat=True))


def test_learnt_affixes_are_stored_and_the_forms_are_updated(store: StoreArticle) -> None:
    store_titles(store)
    revisions = set(Article.objects.values_list("revision", flat=True))

    [newspaper] = update_affixes_and_forms(Newspaper.objects.all())

    assert newspaper.learnt_affixes == ["Skerry Online"]
    assert affixes_line(newspaper) == "Harbour Post: learnt headline affixes: “Skerry Online”."
    assert Newspaper.objects.get().affixes == ["Harbour Post", "Skerry Online"]
    assert normalized_titles() == [title.lower() for title in TITLES]
    assert not revisions & set(Article.objects.values_list("revision", flat=True))
    assert not outdated_forms().exists()


def test_headlines_that_come_while_it_learns_count_too(store: StoreArticle, monkeypatch: pytest.MonkeyPatch) -> None:
    store_titles(store)
    meanwhile(monkeypatch, title_affixes, "learnt_from", lambda: store_titles(store, "{} — Late Edition"))
    [newspaper] = update_affixes()
    assert newspaper.learnt_affixes == ["Late Edition", "Skerry Online"]


def test_learning_again_changes_nothing(store: StoreArticle) -> None:
    store_titles(store)
    update_affixes_and_forms(Newspaper.objects.all())
    before = list(Article.objects.order_by("pk").values())

    assert update_affixes_and_forms(Newspaper.objects.all()) == []
    assert list(Article.objects.order_by("pk").values()) == before
    assert store(headline="Mayor leaves | Skerry Online").normalized_title == "mayor leaves"


def test_an_article_counts_as_changed_although_its_form_is_the_same(store: StoreArticle) -> None:
    store_titles(store)
    article = store(headline="Council opens the lighthouse to all visitors | Skerry Online")
    update_affixes_and_forms(Newspaper.objects.all())

    updated = Article.objects.get(pk=article.pk)
    assert updated.normalized_title == article.normalized_title == "council opens the lighthouse to all visitors"
    assert updated.revision > article.revision


def test_each_newspaper_learns_from_its_own_headlines(store: StoreArticle) -> None:
    store_titles(store)
    store_titles(store, "{}", newspaper="Inland Courier")
    courier = Newspaper.objects.get(name="Inland Courier")

    assert update_affixes([courier]) == []
    assert [newspaper.name for newspaper in update_affixes()] == ["Harbour Post"]
    assert outdated_forms().count() == len(TITLES)
    assert outdated_forms([courier]).count() == 0


def test_a_refused_affix_is_given_up(store: StoreArticle) -> None:
    store_titles(store)
    update_affixes_and_forms(Newspaper.objects.all())
    Newspaper.objects.update(refused_affixes=["skerry online"])

    [newspaper] = update_affixes_and_forms(Newspaper.objects.all())

    assert affixes_line(newspaper) == "Harbour Post: learnt headline affixes: none."
    assert normalized_titles() == [f"{title.lower()} skerry online" for title in TITLES]


def test_an_import_learns_from_its_articles(tmp_path: Path) -> None:
    rows = [row(number, headline=f"{title} - Skerry Online") for number, title in enumerate(TITLES)]
    file = tmp_path / "articles.jsonl"
    file.write_bytes(json_lines(*rows))

    assert "Harbour Post: learnt headline affixes: “Skerry Online”.\n" in called("import_articles", str(file))[0]
    assert normalized_titles() == [title.lower() for title in TITLES]
    Newspaper.objects.update(learnt_affixes=[])
    assert "Skerry Online" not in called("import_articles", str(file))[0]


def test_renormalize_learns_first_but_not_in_a_dry_run(store: StoreArticle) -> None:
    store_titles(store)

    assert called("renormalize", "--dry-run")[0] == "Outdated articles: 0.\n"
    assert called("renormalize")[0] == (
        "Harbour Post: learnt headline affixes: “Skerry Online”.\nArticles: 30 checked, 30 changed.\n"
    )
    assert called("renormalize")[0] == "Articles: 0 checked, 0 changed.\n"


def test_texts_in_place_of_headlines_teach_nothing(store: StoreArticle) -> None:
    for title in TITLES:
        store(headline=f"{title} {'and so on ' * 25} | Skerry Online")

    assert update_affixes() == []


def test_the_settings_show_what_was_learnt_and_refuse_it(store: StoreArticle, client: Client) -> None:
    store_titles(store)
    [newspaper] = update_affixes_and_forms(Newspaper.objects.all())
    client.force_login(User.objects.create_superuser("root"))
    address = f"/newspapers/{newspaper.pk}/settings/"
    assert "Skerry Online</strong>" in client.get(address).content.decode()
    unchanged = {f"{before}name": "Harbour Post" for before in ("", "initial-")}

    assert client.post(address, unchanged).status_code == 302
    assert (Newspaper.objects.get().learnt_affixes, outdated_forms().count()) == (["Skerry Online"], 0)

    answer = client.post(address, unchanged | {"refused_affixes": "Skerry Online"}, follow=True)

    assert "The next run normalises 30 articles of it again." in answer.content.decode()
    assert Newspaper.objects.get().learnt_affixes == []
    called("find_duplicates")
    assert outdated_forms().count() == 0
    assert normalized_titles() == [f"{title.lower()} skerry online" for title in TITLES]
