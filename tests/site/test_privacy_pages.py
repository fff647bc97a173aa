"""The pages of removals: who may open them, what must be typed, and what a worker then does."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from articles.jobs.work import do_job
from articles.models import Article, Job, Newspaper, Removal, Withholding
from tests.conftest import StoreArticle
from tests.factories import make_pair, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def paper(store: StoreArticle) -> Newspaper:
    """Return a newspaper with one article, which has a pair with one of another newspaper."""
    make_pair(store(newspaper="Selby Gazette"), store(newspaper="Harbour Post"), trigram=0.9)
    return Newspaper.objects.get(name="Selby Gazette")


def client_of(role: str) -> Client:
    client = Client()
    client.force_login(make_user(role, role))
    return client


def reason() -> dict[str, str]:
    return {"reason": "The contract has ended"}


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_others_than_admins_are_refused_and_nothing_happens(paper: Newspaper, role: str) -> None:
    client, article = client_of(role), Article.objects.filter(newspaper=paper).get()
    for address in (f"/newspapers/{paper.pk}/remove/", f"/articles/{article.pk}/remove/"):
        for answer in (client.get(address), client.post(address, {"confirm": paper.name, **reason()})):
            assert answer.status_code == 403
            assert "403.html" in {template.name for template in answer.templates}
    assert client.post(f"/articles/{article.pk}/withhold/", reason()).status_code == 403
    assert not Removal.objects.exists()
    assert not Withholding.objects.exists()


def test_the_first_page_counts_what_would_go(paper: Newspaper) -> None:
    page = " ".join(client_of("admin").get(f"/newspapers/{paper.pk}/remove/").content.decode().split())
    for label, number in (("Articles", 1), ("Pairs", 1), ("Evidence", 1)):
        assert f'<tr><th scope="row">{label}</th><td class="number">{number}</td></tr>' in page
    # What is not touched is not listed.
    assert "tombstones</th>" not in page


@pytest.mark.parametrize("typed", ["", "selby gazette", "Selby", "Harbour Post"])
def test_nothing_is_removed_unless_the_name_is_typed_exactly(paper: Newspaper, typed: str) -> None:
    answer = client_of("admin").post(f"/newspapers/{paper.pk}/remove/", {"confirm": typed, **reason()})
    assert answer.status_code == 400
    assert not Removal.objects.exists()
    assert Article.objects.filter(withheld=False).count() == 2


def test_nothing_is_removed_without_a_reason(paper: Newspaper) -> None:
    answer = client_of("admin").post(f"/newspapers/{paper.pk}/remove/", {"confirm": paper.name, "reason": " "})
    assert (answer.status_code, Removal.objects.count()) == (400, 0)


def test_a_confirmed_removal_hides_at_once_and_a_worker_does_the_rest(paper: Newspaper) -> None:
    client = client_of("admin")
    answer = client.post(f"/newspapers/{paper.pk}/remove/", {"confirm": "Selby Gazette", **reason()})
    assert (answer.status_code, answer["Location"]) == (302, "/removals/")
    hidden = Article.objects.get(newspaper=paper)
    assert (hidden.headline, hidden.content, hidden.withheld) == ("Removed", "", True)
    assert "Selby Gazette" not in client.get("/crawls/").content.decode()
    removal = Removal.objects.get()
    job = Job.objects.get(kind="removal")
    assert client.post(f"/jobs/{job.pk}/cancel/").status_code == 403  # it must come to its end
    do_job(job.pk)
    removal.refresh_from_db()
    assert (removal.state, removal.counts["articles"], str(removal.requested_by)) == ("done", 1, "admin")
    page = client.get("/removals/").content.decode()
    for said in ("Selby Gazette", "The contract has ended", "articles: 1", "Allow again"):
        assert said in page
    client.post(f"/removals/{removal.pk}/lift/")
    assert "Allow again" not in client.get("/removals/").content.decode()


def test_the_commands_count_refuse_and_remove(paper: Newspaper) -> None:
    out = io.StringIO()
    call_command("remove_newspaper", "Selby Gazette", stdout=out)
    assert out.getvalue().startswith("articles: 1\n")
    assert out.getvalue().endswith("add --confirm 'Selby Gazette' and --reason.\n")
    with pytest.raises(CommandError, match="--confirm is 'Selby', not 'Selby Gazette'; nothing was removed"):
        call_command("remove_newspaper", "Selby Gazette", "--confirm=Selby", "--reason=x")
    with pytest.raises(CommandError, match="a reason is required"):
        call_command("remove_newspaper", "Selby Gazette", "--confirm=Selby Gazette")
    assert Article.objects.count() == 2
    done = io.StringIO()
    call_command(
        "remove_newspaper", "Selby Gazette", "--confirm=Selby Gazette", "--reason=x", "--no-progress", stdout=done
    )
    assert "is done: " in done.getvalue()
    left = Article.objects.get()
    call_command("remove_article", str(left.pk), f"--confirm={left.pk}", "--reason=x", "--no-progress", stdout=done)
    assert not Article.objects.exists()


def test_an_article_is_withheld_and_released_on_its_page(paper: Newspaper) -> None:
    client, article = client_of("admin"), Article.objects.get(newspaper=paper)
    assert client.post(f"/articles/{article.pk}/withhold/", {"reason": ""}).status_code == 400
    client.post(f"/articles/{article.pk}/withhold/", {"reason": "A dispute"})
    assert "Release" in client.get(f"/articles/{article.pk}/").content.decode()
    assert "A dispute" in client.get("/removals/").content.decode()
    client.post(f"/articles/{article.pk}/release/")
    assert article.headline in client.get(f"/articles/{article.pk}/").content.decode()
