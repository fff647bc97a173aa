"""Importing a file in the browser: the preview, the worker's import, its rejected rows, and what is refused."""

import gzip
import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from articles.files import uploads
from articles.jobs.work import cancel
from articles.models import Article, FileImport, Job, UploadedPart
from tests.commands import work
from tests.factories import make_user

pytestmark = pytest.mark.django_db
TEXT = "The ferry to Little Skerry sails again after forty days, with a new engine and the old captain on the bridge."


def row(number: int, **more: Any) -> dict[str, Any]:
    values = {"title": f"Ferry sails {number}", "link": f"https://paper.example/{number}", "text": f"{TEXT} {number}"}
    return values | {"published": "2026-03-02", "desk": "islands"} | more


FAULTY = [row(7, published="soon"), row(8, link="ftp://x"), row(9, text="\0 \ud800")]
ROWS = [*(row(number) for number in range(7)), *FAULTY]
FILE = gzip.compress("".join(f"{json.dumps(found_row)}\n" for found_row in ROWS).encode())


@pytest.fixture
def client() -> Client:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_user("ada", "admin"))
    return client


def send(client: Client, path: str, **values: Any) -> Any:
    client.get("/imports/")
    token = client.cookies["csrftoken"].value
    return client.post(path, values | {"csrfmiddlewaretoken": token}, follow=True)


def upload(client: Client, content: bytes = FILE, name: str = "articles.jsonl.gz") -> Any:
    return send(client, "/imports/new/", file=SimpleUploadedFile(name, content), newspaper=" Skerry  Post ")


def test_a_file_is_previewed_then_imported_and_its_rejects_are_taken_home(
    client: Client, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Any
) -> None:
    monkeypatch.setattr(uploads, "PART_BYTES", 100)
    page = upload(client)
    kept = FileImport.objects.get()
    preview = page.context["kept"].preview
    assert preview["columns"] == [
        ["title", "headline"],
        ["link", "url"],
        ["text", "content"],
        ["published", "date"],
        ["desk", ""],
    ]
    assert (preview["checked"], preview["rejected"], len(preview["rows"])) == (10, 3, 5)
    assert preview["rows"][0]["newspaper"] == "Skerry Post"
    assert [reject["line"] for reject in preview["rejects"]] == [8, 9, 10]
    assert not Article.objects.exists()

    send(client, f"/imports/{kept.pk}/start/")
    waiting = send(client, f"/imports/{kept.pk}/start/").content.decode()
    assert "it waits already" in waiting
    assert "every 2s" in waiting
    assert Job.objects.count() == 1
    work()
    kept.refresh_from_db()
    assert (kept.job.state, kept.read, kept.stored, kept.known, kept.rejected) == ("done", 10, 7, 0, 3)
    assert set(Article.objects.values_list("newspaper__name", "extra_columns")) == {
        ("Skerry Post", '{"desk": "islands"}')
    }
    assert not UploadedPart.objects.exists()
    with django_assert_max_num_queries(12):
        page = client.get(f"/imports/{kept.pk}/")
    assert "every 2s" not in page.content.decode()
    sent = b"".join(client.get(f"/imports/{kept.pk}/rejects.jsonl").streaming_content)  # type: ignore[attr-defined]
    rejects = [json.loads(line) for line in sent.splitlines()]
    assert [(reject["file"], reject["line"]) for reject in rejects] == [
        ("articles.jsonl.gz", line) for line in (8, 9, 10)
    ]
    assert sum(kept.reasons.values()) == 3

    # The same file again: nothing is stored twice. It is cancelled after its first batch, then resumed.
    monkeypatch.setattr(uploads, "BATCH_SIZE", 2)
    upload(client)
    again = FileImport.objects.first()
    assert again
    send(client, f"/imports/{again.pk}/start/")
    original = uploads.import_rows

    def cancelled(*args: Any, **named: Any) -> Any:
        for batch in original(*args, **named):
            cancel(Job.objects.latest("pk"))
            yield batch

    monkeypatch.setattr(uploads, "import_rows", cancelled)
    work()
    again.refresh_from_db()
    assert (again.job.state, again.read) == ("cancelled", 0)
    monkeypatch.setattr(uploads, "import_rows", original)
    send(client, f"/imports/{again.pk}/start/")
    work()
    again.refresh_from_db()
    assert (again.job.state, again.read, again.stored, again.known) == ("done", 10, 0, 7)
    assert Article.objects.count() == 7


def test_what_cannot_be_imported_is_refused_and_not_kept(client: Client, settings: Any) -> None:
    assert "its name must end in .jsonl" in upload(client, b"{}", "articles.xlsx").content.decode()
    assert "has no url column" in upload(client, b"date,text\n2026-03-02,x\n", "a.csv").content.decode()
    assert "has no rows" in upload(client, b"date,url,text\n", "a.csv").content.decode()
    assert "rename or compress it" in upload(client, b"plain", "a.csv.gz").content.decode()
    settings.IMPORT_BYTES = 1_000
    large = upload(client, b"x" * 1_001, "a.csv")
    assert (large.status_code, large.context["form"].errors["file"][0][:28]) == (400, "The file is too large: at mo")
    settings.IMPORT_BYTES = 1_001
    assert "has no url column" in upload(client, b"x" * 1_001, "a.csv").content.decode()
    assert not FileImport.objects.exists()
    file = SimpleUploadedFile("a.csv", b"date,url,text\n")
    assert client.post("/imports/new/", {"file": file}).status_code == 403  # without a token
    assert client.get("/imports/new/").status_code == 302
