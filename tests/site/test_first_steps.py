"""An installation without a finished run: what its pages say, and that no page sends anybody to a shell needlessly."""

import html
import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from articles.models import Article, Job
from dedup.models import DetectionRun, Worker
from tests.conftest import StoreArticle
from tests.factories import make_run, make_user
from tests.site.test_rights import PAGES, TEMPLATES, client_of, samples

pytestmark = pytest.mark.django_db

# What runs find, or what is made of it.
OF_RUNS = {
    "queue", "clusters", "series_list", "articles", "groups", "boilerplate_list", "stories", "reports", "exports",
    "runs",
}  # fmt: skip
BUTTONS = {"imports": "Import a file", "newspaper_add": "Add a newspaper", "run_new": "Start a run"}


def page_of(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, address
    main: str = re.search(r"<main.*</main>", answer.content.decode(), re.DOTALL)[0]  # type: ignore[index]
    return html.unescape(main)


def offered(page: str) -> list[str]:
    return [label for name, label in BUTTONS.items() if f'href="{reverse(name)}">{label}</a>' in page]


def test_an_admin_is_offered_three_steps_and_each_is_ticked_when_it_is_done(store: StoreArticle) -> None:
    client = client_of("admin")
    page = page_of(client, "/")
    assert offered(page) == list(BUTTONS.values())
    assert (page.count("✓"), "manage.py db_worker" in page) == (0, True)
    assert re.findall(r'btn-primary" href="([^"]+)"', page) == ["/imports/"]

    Worker.objects.update_or_create(defaults={"seen_at": timezone.now()})
    Job.objects.create(kind="import", title="Import of old.csv", page="/imports/7/")
    page = page_of(client, "/")
    assert '<a href="/imports/7/">Import of old.csv: waiting for a worker</a>' in page
    assert "A worker answers." in page

    paper = store().newspaper
    paper.section_urls = ["https://paper.example/"]
    paper.save()
    run = make_run(state=DetectionRun.State.FAILED)
    page = page_of(client, "/")
    assert (page.count("✓"), "1 article so far." in page, "1 newspaper so far." in page) == (2, True, True)
    assert re.findall(r'btn-primary" href="([^"]+)"', page) == ["/runs/new/"]
    assert f'<a href="/runs/{run.pk}/">Run {run.pk}: failed</a>' in page

    make_run()
    assert "Welcome" not in page_of(client, "/")
    # A run over nothing leads nowhere.
    Article.objects.all().delete()
    assert "Welcome" in page_of(client, "/")


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_who_may_not_take_the_steps_reads_who_may(role: str) -> None:
    client = client_of(role)
    assert "role admin" in page_of(client, "/")
    make_user("ada", "admin", first_name="Ada", last_name="Brook", email="ada@desk.example")
    page = page_of(client, "/")
    assert (offered(page), "manage.py" in page) == ([], False)
    assert re.search(r"<strong>Ada Brook</strong> \(<a [^>]+>ada@desk.example</a>\)", page)


def test_every_page_of_what_runs_find_leads_to_the_first_steps(store: StoreArticle) -> None:
    assert {page.name for page in PAGES} >= OF_RUNS
    client = client_of("viewer")

    def leading() -> dict[str, str]:
        found = {}
        for name in OF_RUNS:
            said = re.search(r'([^<>]*) <a href="/">See the first steps</a>', page_of(client, reverse(name)))
            if said:
                found[name] = said[1].strip()
        return found

    assert leading() == dict.fromkeys(OF_RUNS, "There are no articles yet.")
    store()
    assert leading() == dict.fromkeys(OF_RUNS - {"articles", "stories"}, "The articles have not been compared yet.")
    make_run()
    assert leading() == {}


# ---- no page names a command where a button does it ----

COMMANDS = {
    "layout/_no_worker.html": "no page can start a process on the server",
    "learning/learning.html": "the same",
    "imports/imports.html": "a file that is larger than uploads may be",
    "validation/sample.html": "labelling in a file, for who works without pages",
    "validation/_results.html": "the command measures every pass, which takes longer than a page may",
}


def test_templates_name_a_command_only_where_no_button_does_it() -> None:
    naming = {
        str(path.relative_to(TEMPLATES))
        for path in TEMPLATES.rglob("*")
        if path.is_file() and re.search(r"manage\.py|<code>[a-z]+_[a-z_]+</code>", path.read_text())
    }
    assert naming <= set(COMMANDS)


def test_pages_of_an_empty_installation_name_no_command_but_the_worker_s() -> None:
    client = client_of("superuser")
    allowed = {"newspaper_add", "exports", "imports", "import_new", "help", "help_page"}
    named = {}
    for sample in samples():
        if sample.name in allowed or sample.name.startswith(("admin:", "api:")) or "logout" in sample.name:
            continue
        answer = client.get(sample.url())
        if answer.streaming or answer.status_code != 200:
            continue
        found = set(re.findall(r"manage\.py \w+", answer.content.decode())) - {"manage.py db_worker"}
        if found:
            named[sample.url()] = found
    assert named == {}
