"""Copies that a newspaper's policy attaches to stored articles when they arrive, and that become articles again."""

import datetime
import gzip
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction
from django.urls import reverse

from articles.boilerplate.mode import Mode
from articles.extraction.extract import EXTRACTOR_VERSION
from articles.extraction.kept_pages import RawPage
from articles.files.exporting import exported_rows
from articles.jobs.work import do_job
from articles.models import Article, ArticlePage, ArticleURL, AttachedCopy, DeclaredURL, FollowingPage, Job, Newspaper
from articles.normalization.times import written_time
from articles.storage.incoming import Details, IncomingArticle, ListedDate, PageCopy, SeenHeadline, SeenURL
from articles.storage.ingest import store_articles
from newsdedup_site.doctor.examining import examine
from newsdedup_site.privacy.removal import begin_articles, carry_out, release, withhold
from newsdedup_site.privacy.retention import count_old, remove_pages
from tests.articles.rows import json_lines, row
from tests.articles.storage.test_ingest import FERRY, incoming
from tests.commands import called
from tests.factories import client_of, make_user
from tests.stored_rows import columns_with

pytestmark = pytest.mark.django_db
Attach = Newspaper.Attach
Kind = ArticleURL.Kind
AMP, PRINT, SENT = f"{FERRY}/amp", f"{FERRY}/print", f"{FERRY}?utm_source=x"


@pytest.fixture
def paper() -> Newspaper:
    """Return the newspaper of `incoming`, which attaches all that it can."""
    return Newspaper.objects.create(name="Harbour Post", host="harbourpost.example", attach=Attach.HEADLINE)


@pytest.fixture
def admin() -> User:
    return make_user("ada", "admin")


def outcomes(*batch: IncomingArticle) -> list[str]:
    return [stored.outcome for stored in store_articles(batch)]


def whole() -> IncomingArticle:
    """Return an article with all that can come with one, under another address than `incoming`."""
    listed = ListedDate(datetime.date(2026, 3, 2), written_time("2026-03-02T07:00Z"), in_sitemap=True)
    more = RawPage(b"<p>more", f"{AMP}/2", "text/html")
    fetched = datetime.datetime(2026, 3, 3, tzinfo=datetime.UTC)
    page = PageCopy(AMP, "text/html", b"<p>", EXTRACTOR_VERSION, listed, None, [more], gzip.compress(b"{}"), fetched)
    return incoming(
        f"https://www.google.com/url?url={AMP}",
        headline="Ferry sails, says\tmayor \\ “é”",
        content="Another text.\nWith \\N and \\. in two lines.",
        external_id="hp-17",
        kind=Kind.FEED,
        other_urls=[SeenURL("https://cdn.example/9", Kind.CANONICAL), SeenURL(f"{FERRY}.amp", Kind.AMP)],
        details=Details(byline="Jo", language="en", date_source="feed").with_time(
            written_time("2026-03-02T08:00+02:00")
        ),
        page=page,
        headlines=[SeenHeadline("A third one", datetime.date(2026, 3, 4), AMP)],
        extra_columns='{"a": 1.0, "a": "two"}',
    )


def rows() -> list[Any]:
    """Return all that is stored, without numbers and moments of storing."""
    pages = ArticlePage.objects.values("article__url", "url", "body", "published_time", "in_sitemap", "fetched_at")
    others = FollowingPage.objects.values("article_page__article__url", "number", "body", "url")
    declared = DeclaredURL.objects.values("article__url", "url", "kind")
    articles = [({**found.values, "id": 0}, found.extra) for found in exported_rows(Mode.KEEP)]
    return [articles, *(list(map(repr, found.order_by("pk"))) for found in (pages, others, declared))]


@pytest.mark.parametrize("size", [2, 500])
def test_files_with_other_forms_of_an_address_attach_them_in_one_batch_and_across_batches_and_once(
    paper: Newspaper, tmp_path: Path, size: int
) -> None:
    path, forms = tmp_path / "a.jsonl", (FERRY, AMP, "https://m.harbourpost.example/2026/ferry", SENT)
    path.write_bytes(json_lines(*(row(url=url, headline=f"Ferry {url}", extra=url) for url in forms), row(2)))

    said = called("import_articles", path, "--batch-size", size)[0].splitlines()[-1]
    assert said == "5 articles read: 2 stored, 3 attached to stored articles, 0 already known, 0 rejected."
    article = Article.objects.get(url=FERRY)
    copies = article.attached_copies.values_list("url", "attached_by", "extra_columns", "headline")
    assert list(copies) == [(url, "address", f'{{"extra": "{url}"}}', f"Ferry {url}") for url in forms[1:]]
    assert list(article.urls.values_list("url", flat=True)) == list(forms)

    before = rows(), list(AttachedCopy.objects.values())
    Newspaper.objects.update(attach=Attach.OFF)
    assert called("import_articles", path)[0].endswith("0 stored, 5 already known, 0 rejected.\n")
    assert (rows(), list(AttachedCopy.objects.values())) == before


LONG = " ".join(f"word{number}" for number in range(61))
HAN, THAI = "哈维尔港渡轮周一恢复通航", "เรือข้ามฟากกลับมาให้บริการแล้ว"


@pytest.mark.parametrize(
    ("one", "other", "attached"),
    [
        ({}, {}, True),
        ({}, {"headline": "FERRY sails again!"}, True),
        ({}, {"headline": "Ferry sails late"}, False),
        ({}, {"date": datetime.date(2026, 3, 3)}, False),
        ({}, {"newspaper": "Skerry Times"}, False),
        ({"headline": ""}, {"headline": ""}, False),
        ({"headline": "Two words"}, {"headline": "Two words"}, False),
        ({"headline": "News of the ferry – Part I"}, {"headline": "News of the ferry – Part II"}, False),
        ({"content": "12 aboard, says the mayor."}, {"content": "The mayor counts 12 of them."}, True),
        ({"content": "12 aboard, says the mayor."}, {"content": "13 aboard, says the mayor."}, False),
        ({"content": "12 aboard, says the mayor."}, {"content": "12 aboard, says the mayor. It has 20 cabins."}, True),
        ({"content": "12 aboard, says the mayor."}, {"content": "12 aboard of 40, says a mayor."}, False),
        ({"content": "१२ aboard."}, {"content": "१३ aboard."}, False),
        ({"content": LONG}, {"content": f"{LONG} more"}, False),
        ({"content": LONG}, {"content": LONG.upper()}, True),
        ({"content": "…"}, {"content": "!!"}, False),
        ({"content": "x" * 601}, {"content": "x" * 602}, False),
        ({"content": "word " * 190_000}, {"content": "Word " * 190_000}, True),
        ({"headline": HAN, "content": "三人受伤。"}, {"headline": HAN, "content": "五人受伤。"}, False),
        ({"headline": HAN, "content": "渡轮恢复。"}, {"headline": HAN, "content": "渡轮又开了。"}, True),
        ({"headline": HAN, "content": "渡轮" * 61}, {"headline": HAN, "content": "渡轮" * 61 + "又"}, False),
        ({"headline": THAI, "content": "ตกลง"}, {"headline": THAI, "content": "ตกลงแล้ว"}, True),
        ({"headline": HAN[:5]}, {"headline": HAN[:5]}, False),
        ({"headline": "عبارة الميناء تعود اليوم"}, {"headline": "عبارة الميناء تعود اليوم"}, True),
    ],
)
def test_a_headline_on_one_day_attaches_the_same_text_and_teasers_without_a_changed_number(
    paper: Newspaper, one: dict[str, Any], other: dict[str, Any], *, attached: bool
) -> None:
    first, second = incoming(**one), incoming(f"{FERRY}-2", **other)
    expected = ["created", "attached" if attached else "created"]
    with transaction.atomic():
        assert outcomes(first, second) == expected
        transaction.set_rollback(True)
    assert [*outcomes(first), *outcomes(second)] == expected
    assert list(AttachedCopy.objects.values_list("attached_by", flat=True)) == ["headline"] * attached
    Newspaper.objects.update(attach=Attach.ADDRESS)
    assert outcomes(incoming(f"{FERRY}-3", **other)) == ["created"]


def test_a_front_page_and_a_parameter_that_may_number_stories_attach_nothing(paper: Newspaper) -> None:
    batch = [
        incoming(f"https://{host}/?{query}", headline=headline)
        for host, query, headline in (
            ("harbourpost.example", "utm_source=a", "Ferry sails"),
            ("www.harbourpost.example", "utm_source=b", "Ferry sails"),
            ("harbourpost.example/news", "utm_id=1", "Ferry sails to Skerry"),
            ("harbourpost.example/news", "utm_id=2", "Council doubles parking fees"),
            ("harbourpost.example/news", "utm_id=1&utm_term=2", "Ferry sails to Skerry"),
        )
    ]
    assert outcomes(*batch) == ["created"] * 4 + ["attached"]


def test_a_batch_asks_once_and_not_without_a_policy(paper: Newspaper, django_assert_num_queries: Any) -> None:
    store_articles([incoming(), incoming("https://elsewhere.example/1", newspaper="")])
    for attach, number in ((Attach.OFF, 12), (Attach.HEADLINE, 13)):
        Newspaper.objects.update(attach=attach)
        with django_assert_num_queries(number):
            store_articles([incoming(f"{FERRY}/{attach}{n}", headline=f"{attach} ferry {n} sails") for n in range(99)])


def test_an_attached_copy_becomes_the_article_that_it_would_have_been(paper: Newspaper, admin: User) -> None:
    with transaction.atomic():
        Newspaper.objects.update(attach=Attach.OFF)
        assert outcomes(incoming(), whole(), incoming(AMP, headline="Later")) == ["created", "created", "known"]
        wanted = rows()
        transaction.set_rollback(True)
    assert outcomes(incoming(), whole(), incoming(AMP, headline="Later")) == ["created", "attached", "known"]
    [copy], [article] = AttachedCopy.objects.all(), Article.objects.all()
    assert (copy.content, copy.extra_columns, copy.external_id) == (whole().content, whole().extra_columns, "hp-17")
    assert all(looked.is_healthy for looked in examine(["own-urls", "urls"]))

    address, page = reverse("copy_store", args=[article.pk, copy.pk]), reverse("article", args=[article.pk])
    editor, browser = client_of(make_user("ed", "editor")), client_of(admin)
    assert "Also at 1 other address<" in editor.get(page).content.decode()
    assert address not in editor.get(page).content.decode()
    assert editor.post(address).status_code == 403
    assert address in browser.get(page).content.decode()
    shown = browser.post(address, follow=True).content.decode()
    assert "This is an article of its own now." in shown
    assert rows() == wanted
    assert not AttachedCopy.objects.exists()
    assert "It stays attached: it is not attached any more." in browser.post(address, follow=True).content.decode()
    assert outcomes(incoming(), whole()) == ["known", "known"]


def test_a_worker_makes_articles_of_all_copies_of_a_newspaper(paper: Newspaper, admin: User) -> None:
    other = Newspaper.objects.create(name="Skerry Times", attach=Attach.ADDRESS)
    kept = [incoming(url.replace("harbour", "skerry"), newspaper="Skerry Times") for url in (FERRY, AMP)]
    assert outcomes(incoming(), *kept, incoming(AMP), incoming(PRINT), incoming(SENT)).count("attached") == 4
    client_of(admin).post(reverse("newspaper_settings", args=[paper.pk]), {"separate": "1"})
    do_job(Job.objects.get().pk)
    assert Job.objects.values_list("state", "result", "done").get() == ("done", 3, 3)
    assert list(AttachedCopy.objects.values_list("article__newspaper", flat=True)) == [other.pk]
    assert list(paper.articles.order_by("pk").values_list("url", flat=True)) == [FERRY, AMP, PRINT, SENT]
    assert outcomes(incoming(AMP), *kept) == ["known"] * 3


def test_removing_and_withholding_an_article_takes_its_copies_along(paper: Newspaper, admin: User) -> None:
    assert outcomes(incoming(), whole(), incoming(PRINT, content="Zwinkelmoor.")) == ["created", *["attached"] * 2]
    number, before = Article.objects.get().pk, list(AttachedCopy.objects.values())
    withhold(number, reason="A dispute", user=admin)
    assert columns_with("Zwinkelmoor") == {"articles_withheldrow.row"}
    assert outcomes(whole(), incoming(PRINT)) == ["known", "known"]
    release(number, user=admin)
    assert list(AttachedCopy.objects.values()) == before
    assert count_old(paper, 9) == sum(remove_pages(paper, 9)) == 1
    assert list(AttachedCopy.objects.values_list("page", flat=True)) == ["", ""]
    carry_out(begin_articles([number], reason="A court", user=admin))
    assert columns_with("Zwinkelmoor", "harbourpost.example/2026") == set()
    assert outcomes(incoming(), whole(), incoming(PRINT)) == ["rejected"] * 3


def in_threads(*batches: Sequence[IncomingArticle]) -> tuple[list[threading.Thread], list[list[str]], list[Exception]]:
    found: list[list[str]] = []
    faults: list[Exception] = []

    def write(batch: Sequence[IncomingArticle]) -> None:
        try:
            found.append(outcomes(*batch))
        except OperationalError as error:
            faults.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=write, args=[batch]) for batch in batches]
    for thread in threads:
        thread.start()
    return threads, found, faults


@pytest.mark.django_db(transaction=True)
def test_two_imports_at_once_and_one_that_is_killed_lose_and_double_nothing(paper: Newspaper) -> None:
    batch = [incoming(f"{FERRY}/{number}{form}") for number in range(20) for form in ("", "/amp")]
    for number, article in enumerate(batch):
        object.__setattr__(article, "headline", f"Ferry {number // 2} sails again")
    waiting = "SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'articles_articleurl'::regclass"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE articles_articleurl IN SHARE MODE")
        [thread], _, faults = in_threads(batch)
        while not (found := cursor.execute(waiting).fetchall()):  # it has stored articles and copies, not their URLs
            pass
        cursor.execute("SELECT pg_terminate_backend(%s)", found[0])
        thread.join(timeout=60)
    assert len(faults) == 1
    assert not Article.objects.exists()
    assert not AttachedCopy.objects.exists()
    threads, found, _ = in_threads(batch, batch[::-1])
    for thread in threads:
        thread.join(timeout=60)
    assert Article.objects.count() == AttachedCopy.objects.count() == 20
    assert sorted(map(set, found), key=len) == [{"known"}, {"attached", "created"}]
