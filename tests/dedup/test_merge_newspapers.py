"""`manage.py merge_newspapers`: merges, undoes, and refuses in plain words."""

from __future__ import annotations

import io

import psycopg
import pytest
from django.core.management import CommandError, call_command

from articles.models import Article, Newspaper, NewspaperMerge
from articles.storage.locks import Lock
from tests.conftest import StoreArticle
from tests.databases import database_url
from tests.factories import make_pair, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def stored(store: StoreArticle) -> tuple[Article, Article]:
    """Store an article of the newspaper that stays, and one of the newspaper that moves."""
    pair = store(newspaper="Harbour Post"), store(newspaper="harbour-prod-2", date="2026-03-05")
    make_pair(*pair, trigram=0.9)
    make_pair(pair[1], store(newspaper="Selby Gazette"), trigram=0.9)
    return pair


def merge(*arguments: str) -> str:
    out = io.StringIO()
    call_command("merge_newspapers", *arguments, stdout=out)
    return out.getvalue()


def test_it_says_what_it_will_do_merges_and_undoes(stored: tuple[Article, Article], store: StoreArticle) -> None:
    before = list(Newspaper.objects.values())
    plan = [
        "articles that move: 1",
        "days: 2026-03-05",
        "pairs with these articles: 2, 1 of them with articles of Harbour Post",
        "names and hosts that will find it: harbour-prod-2",
    ]
    dry = "Dry run, nothing was changed."
    assert merge("harbour-prod-2", "Harbour Post", "--dry-run").splitlines() == [*plan, dry]
    assert list(Newspaper.objects.values()) == before

    make_user("ada")
    done = "1 article moved from harbour-prod-2 to Harbour Post. The next run compares them again."
    assert merge("harbour-prod-2", "Harbour Post", "--user=ada").splitlines() == [*plan, done]
    assert str(NewspaperMerge.objects.get().merged_by) == "ada"
    assert Article.objects.get(pk=stored[1].pk).newspaper == stored[0].newspaper

    store(newspaper="harbour-prod-2")
    assert merge("harbour-prod-2", "--undo", "--dry-run") == f"articles that move back: 1\n{dry}\n"
    assert merge("harbour-prod-2", "--undo") == (
        "1 article moved back to harbour-prod-2; 1 article stored in Harbour Post since the merge stay there.\n"
    )
    assert list(Newspaper.objects.values()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody", "Harbour Post"], "no newspaper is named 'nobody'; known newspapers: Harbour Post, Selby Gazette, "),
        (["Harbour Post", "Harbour Post"], "Harbour Post cannot be merged into itself; choose another newspaper"),
        (["Harbour Post"], "name the newspaper that Harbour Post is to be merged into"),
        (["Harbour Post", "--undo"], "Harbour Post is not merged into another newspaper, so there is nothing to undo"),
        (["harbour-prod-2", "Harbour Post", "--user=nobody"], "there is no user 'nobody'"),
    ],
)
def test_what_makes_no_sense_is_refused(stored: object, arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message) as refused:
        merge(*arguments)
    assert refused.value.returncode == 2
    assert not NewspaperMerge.objects.exists()


def test_a_merge_is_refused_while_a_run_is_active(stored: object) -> None:
    with psycopg.connect(database_url()) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [Lock.RUN])
        for arguments in (["harbour-prod-2", "Harbour Post"], ["harbour-prod-2", "Harbour Post", "--undo"]):
            if "--undo" in arguments:
                other.execute("SELECT pg_advisory_unlock_all()")
                merge("harbour-prod-2", "Harbour Post")
                other.execute("SELECT pg_advisory_lock(%s)", [Lock.RUN])
            with pytest.raises(CommandError, match="another run is active on this database") as refused:
                merge(*arguments)
            assert refused.value.returncode == 3
    assert NewspaperMerge.objects.get().undone_at is None
