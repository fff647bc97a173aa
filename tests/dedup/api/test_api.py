"""The API: what it reads, stores and decides, its pages, its ETags and its errors."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from articles.models import Article, Job
from dedup.api.app import api
from dedup.models import Cluster, Decision, Pair
from dedup.review.answers.decisions import decide_pair
from tests.conftest import StoreArticle
from tests.dedup.api.callers import Caller, problem
from tests.factories import make_cluster, make_collection, make_pair, make_run, make_user

pytestmark = pytest.mark.django_db
FERRY = "The night ferry to Port Selby was cancelled on Monday because of the storm, the harbour office said. " * 6


@pytest.fixture
def reader() -> Caller:
    return Caller(make_user("vera", "viewer"))


@pytest.fixture
def editor() -> Caller:
    return Caller(make_user("mara", "editor"))


@pytest.fixture
def admin() -> Caller:
    return Caller(make_user("ada", "admin"))


# ---- who may ----


def operations() -> list[tuple[str, str]]:
    """Return the method and a path of every operation."""
    paths = api.get_openapi_schema()["paths"]
    return [(method.upper(), re.sub("{.*?}", "9", path)) for path, methods in paths.items() for method in methods]


def test_no_operation_answers_without_a_token_nor_to_a_login(reader: Caller) -> None:
    logged_in = Client(raise_request_exception=False)
    logged_in.force_login(make_user("root", "admin", is_staff=True, is_superuser=True))
    feed = Caller(make_user("feed", "admin"), "feed")
    assert len(operations()) > 15
    for method, path in operations():
        for client in (Client(), logged_in, Client(headers={"Authorization": "Bearer newsdedup_wrong"})):
            answer = client.generic(method, path)
            assert "Send a token" in problem(answer, 401), path
            assert answer["WWW-Authenticate"] == 'Bearer realm="newsdedup"'
        wrong = feed.client.generic(method, path)
        assert "does not have the scope" in problem(wrong, 403), path
    # Not with another scheme, and not in the address.
    for given in ({"headers": {"Authorization": f"Basic {reader.text}"}}, {"query_params": {"token": reader.text}}):
        problem(Client().get("/api/v1/articles", **given), 401)
    assert Client().get("/api/v1/openapi.json").json()["openapi"].startswith("3.1")


def test_a_role_bounds_every_scope(store: StoreArticle) -> None:
    pair = make_pair(store(), store(), trigram=0.8)
    mara = make_user("mara", "editor")
    caller = Caller(mara, "read", "decide")
    mara.groups.set(make_user("vera", "viewer").groups.all())
    answer = caller.post(f"/pairs/{pair.pk}/decisions", {"kind": "confirm"}, if_match="*")
    assert problem(answer, 403) == "The role of mara no longer allows “decide”. Ask an admin."
    assert caller.get(f"/pairs/{pair.pk}").status_code == 200
    assert "only: read, decide" in problem(caller.post("/runs"), 403)


def test_too_many_requests_wait(reader: Caller, settings) -> None:
    settings.API_REQUESTS_A_MINUTE = 12
    assert [reader.get("/runs").status_code for _ in range(2)] == [200, 200]
    # A check counts as ten.
    assert reader.post("/check", {"text": "A text."}).status_code == 200
    answer = reader.get("/runs")
    assert "more than 12 requests" in problem(answer, 429)
    assert 1 <= int(answer["Retry-After"]) <= 60
    assert Caller(make_user("other", "viewer")).get("/runs").status_code == 200


# ---- errors ----


def test_every_error_is_problem_details(admin: Caller, monkeypatch: pytest.MonkeyPatch, settings) -> None:
    assert "openapi.json" in problem(admin.get("/nothing"), 404)
    problem(admin.client.get("/api/"), 404)
    problem(admin.client.get("/api/v1/"), 404)
    assert problem(admin.get("/pairs/9"), 404) == "No Pair matches the given query."
    answer = admin.client.delete("/api/v1/articles")
    problem(answer, 405)
    assert set(answer["Allow"].split(", ")) == {"GET", "POST"}
    problem(admin.post("/check", "{"), 400)
    problem(admin.post("/check", b"\xff"), 400)
    problem(admin.post("/check", "[" * 100_000), 400)
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000
    assert "larger than 1 MB" in problem(admin.post("/check", {"text": "x" * 1_000_001}), 413)
    with monkeypatch.context() as patch:
        patch.setattr("dedup.api.runs.run_row", lambda _run: 1 / 0)
        make_run()
        assert "Its fault" not in problem(admin.get("/runs"), 500)


WRONG: list[tuple[str, Any, str]] = [
    ("/articles?limit=0", None, "query/limit"),
    ("/articles?since=2026-02-30", None, "query/since"),
    ("/articles?newspaper=a%00b", None, "query/newspaper"),
    ("/articles?q=(ferry", None, "query/q"),
    ("/articles/by-url?url=https://a.example/%00", None, "query/url"),
    ("/pairs?cursor=WyIxIiwgIjIiXQ", None, "query/cursor"),
    ("/articles?cursor=%00", None, "query/cursor"),
    ("/articles/99999999999999999999", None, "path/article_id"),
    ("/pairs?min_score=0.5", None, "query/min_score"),
    ("/articles/by-url?url=https://a.example/b&date=1", None, "query/date"),
    ("/pairs?probability_from=nan", None, "query/probability_from"),
    ("/check", {"text": "a\0b"}, "body/text"),
    ("/check", {"text": "\ud800"}, "body/text"),
    ("/check", {"text": "x", "url": "https://a.example/"}, "body"),
    ("/check", {"text": "x", "day": 5}, "body/day"),
    ("/check", {"text": "x", "colour": "red"}, "body/colour"),
    ("/check", {"text": "x" * 200_001}, "body/text"),
    ("/articles", {"articles": []}, "body/articles"),
    ("/articles", {"articles": [{"url": 5, "date": "2026-03-02", "content": "x"}]}, "body/articles/0/url"),
    ("/runs", {"since": "2026-03-02", "until": "2026-03-01"}, "body"),
    ("/runs", {"profile": "none such"}, "body/profile"),
    ("/runs", {"newspapers": ["none such"]}, "body/newspapers"),
    ("/runs", {"collections": ["none such"]}, "body/collections"),
    ("/runs", {"new": 1}, "body/new"),
]


def test_a_value_that_is_wrong_is_named(admin: Caller) -> None:
    for path, body, where in WRONG:
        answer = admin.get(path) if body is None else admin.post(path, body)
        assert problem(answer, 422), path
        assert [error["where"] for error in answer.json()["errors"]] == [where], path


# ---- articles ----


def test_articles_are_stored_found_and_listed_in_pages(admin: Caller, reader: Caller) -> None:
    def row(number: int, **values: Any) -> dict[str, Any]:
        url = f"https://harbour.example/2026/03/story-{number}?utm_source=feed"
        return {"url": url, "date": f"2026-03-0{number}", "headline": f"Ferry {number}", "content": FERRY, **values}

    selby = row(1, newspaper="Selby Times", url="https://selby.example/2026/03/ferry")
    rows = [row(3, lang="en", date="2026-03-03T18:30+02:00"), selby, row(2), row(2)]
    rows += [row(4, date="soon"), row(5, content=" "), {"url": "x", "date": "2026-03-02", "content": "x"}]
    answer = admin.post("/articles", {"articles": rows})
    assert answer.status_code == 200
    results = answer.json()["results"]
    assert [result["outcome"] for result in results] == ["created"] * 3 + ["known"] + ["rejected"] * 3
    assert [result["article"] for result in results[2:4]] == [results[2]["article"]] * 2
    assert ["soon" in results[4]["reason"], "content is empty" in results[5]["reason"]] == [True, True]
    assert problem(reader.post("/articles", {"articles": rows}), 403)

    found = reader.read("/articles/by-url?url=https://harbour.example/2026/03/story-3")
    assert (found["id"], found["lang"], found["content"]) == (results[0]["article"], "en", FERRY)
    assert found["published_at"] == "2026-03-03T18:30+02:00"
    assert found == reader.read(f"/articles/{found['id']}")
    assert problem(reader.get("/articles/by-url?url=nonsense"), 404) == "No article is stored under this URL."

    pages = reader.pages("/articles?limit=2")
    assert [[article["headline"] for article in page] for page in pages] == [["Ferry 1", "Ferry 2"], ["Ferry 3"]]
    assert [article["headline"] for article in reader.read("/articles?newspaper=Selby%20Times")["data"]] == ["Ferry 1"]
    assert reader.read("/articles?newspaper=Nobody")["data"] == []
    assert [article["headline"] for article in reader.read("/articles?q=ferry%201%20-nothing")["data"]] == ["Ferry 1"]
    of_a_day = reader.read("/articles?since=2026-03-02&until=2026-03-02")["data"]
    assert [article["date"] for article in of_a_day] == ["2026-03-02"]


def test_rows_that_come_meanwhile_move_no_other_row_to_another_page(reader: Caller, store: StoreArticle) -> None:
    stored = [store(date=f"2026-03-0{day}").pk for day in (1, 2, 2, 3)]
    first = reader.read("/articles?limit=2")
    store(date="2026-03-01")
    store(date="2026-02-01")
    after = store(date="2026-03-02").pk
    second = reader.read(first["next"])
    assert [article["id"] for article in first["data"] + second["data"]] == [*stored[:3], after]


def test_lists_cost_the_same_however_long_they_are(reader: Caller, store: StoreArticle) -> None:
    make_cluster(*(store(newspaper=f"Paper {number}") for number in range(3)))
    lists = ("/articles", "/clusters", "/pairs", "/decisions", "/runs", "/stories")

    def queries() -> list[int]:
        counted = []
        for path in lists:
            with CaptureQueriesContext(connection) as found:
                reader.read(path)
            counted.append(len(found))
        return counted

    queries()  # notes the use of the token
    before = queries()
    for _ in range(3):
        make_cluster(*(store(newspaper=f"Paper {number}") for number in range(4)))
    after = queries()
    assert after == before
    # The token, two permissions and the count of the minute, then the rows.
    assert max(after) <= 8


# ---- clusters and stories ----


def test_clusters_are_read_with_their_articles(reader: Caller, store: StoreArticle) -> None:
    ferry = [store(newspaper=name, date=f"2026-03-0{day}") for day, name in enumerate(("Post", "Times", "Echo"), 1)]
    cluster = make_cluster(*ferry)
    row = reader.read(f"/clusters/{cluster.pk}")
    kept = row["kept"]
    assert (row["size"], row["state"], kept["id"], kept["cluster"]) == (3, "proposed", ferry[0].pk, cluster.pk)
    assert reader.read("/clusters?size_from=3")["data"] == [row]
    assert reader.read("/clusters?state=confirmed")["data"] == []
    pages = [[article["id"] for article in page] for page in reader.pages(f"/clusters/{cluster.pk}/articles?limit=2")]
    assert pages == [[ferry[0].pk, ferry[1].pk], [ferry[2].pk]]
    problem(reader.get("/clusters/9/articles"), 404)


def test_stories_have_each_cluster_and_each_single_article_once(reader: Caller, store: StoreArticle) -> None:
    ferry = [store(newspaper=name, date=f"2026-03-0{day}") for day, name in ((3, "Post"), (1, "Times"), (4, "Post"))]
    make_cluster(*ferry)
    alone = store(newspaper="Echo", date="2026-03-02")
    pages = reader.pages("/stories?limit=1")
    rows = [(row["article"]["id"], row["articles"], row["newspapers"]) for page in pages for row in page]
    assert rows == [(alone.pk, 1, ["Echo"]), (ferry[1].pk, 3, ["Times", "Post"])]
    assert (pages[1][0]["number"], pages[1][0]["first_sentence"][:12]) == (ferry[0].pk, "Text number ")
    assert reader.read("/stories?until=2026-03-01")["data"] == pages[1]


# ---- decisions ----


def test_a_decision_names_the_pair_as_it_was_read(editor: Caller, reader: Caller, store: StoreArticle) -> None:
    pair = make_pair(store(), store(), trigram=0.8)
    path = f"/pairs/{pair.pk}"
    seen = editor.get(path)
    assert seen.json()["evidence"] == [{"pass_name": "trigram", "score": 0.8}]
    assert "read the pair first" in problem(editor.post(f"{path}/decisions", {"kind": "confirm"}), 428)
    assert "confirm" in problem(editor.post(f"{path}/decisions", {"kind": "merge"}, if_match=seen["ETag"]), 422)

    made = editor.post(f"{path}/decisions", {"kind": "confirm", "note": "Same ferry."}, if_match=seen["ETag"])
    assert made.status_code == 201
    row = made.json()
    assert (row["kind"], row["decided_by"], row["note"], row["pair"]) == ("confirm", "mara", "Same ferry.", pair.pk)
    assert editor.client.get(made["Location"]).json() == row
    assert Cluster.objects.get().state == "confirmed"

    # Somebody who read it before is told to look again; what they say is not stored.
    late = editor.post(f"{path}/decisions", {"kind": "reject"}, if_match=seen["ETag"])
    assert "has changed since you read it" in problem(late, 412)
    now = editor.get(path)
    assert (now.json()["state"], now.json()["decision"]) == ("confirmed", row["id"])
    # So does a run that judges it otherwise.
    Pair.objects.filter(pk=pair.pk).update(duplicate_probability=0.2)
    problem(editor.post(f"{path}/decisions", {"kind": "reject"}, if_match=now["ETag"]), 412)
    assert Decision.objects.count() == 1

    undone = editor.post(f"/decisions/{row['id']}/undo", {"note": "A slip."})
    assert (undone.status_code, undone.json()["undoes"]) == (201, row["id"])
    assert "already been undone" in problem(editor.post(f"/decisions/{row['id']}/undo"), 409)
    problem(editor.post("/decisions/987654/undo"), 404)
    history = reader.read(f"/decisions?pair={pair.pk}")["data"]
    assert [(made["kind"], made["undone_by"]) for made in history] == [("undo", None), ("confirm", history[0]["id"])]
    assert reader.read("/decisions?decided_by=vera")["data"] == []
    assert "does not have the scope" in problem(reader.post(f"{path}/decisions", {"kind": "reject"}, if_match="*"), 403)


def test_an_answer_that_did_not_change_is_not_sent_again(reader: Caller, editor: Caller, store: StoreArticle) -> None:
    pair = make_pair(store(), store(), trigram=0.8)
    answer = reader.get(f"/pairs/{pair.pk}")
    assert "private" in answer["Cache-Control"]
    again = reader.get(f"/pairs/{pair.pk}", if_none_match=answer["ETag"])
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", answer["ETag"])
    decide_pair(pair.pk, "confirm", user=editor.token.owner)
    assert reader.get(f"/pairs/{pair.pk}", if_none_match=answer["ETag"]).status_code == 200
    listed = reader.get("/pairs")
    assert reader.get("/pairs", if_none_match=f'"other", {listed["ETag"]}').status_code == 304


def test_pairs_are_listed_by_what_is_known_of_them(reader: Caller, store: StoreArticle) -> None:
    articles = [store() for _ in range(4)]
    first = make_pair(articles[0], articles[1], trigram=0.9)
    second = make_pair(articles[1], articles[2], verdict="similar", duplicate_probability=0.2, trigram=0.4)
    make_pair(articles[2], articles[3])
    decide_pair(first.pk, "confirm", user=make_user("mara", "editor"))

    def found(query: str) -> list[int]:
        return [pair["id"] for page in reader.pages(f"/pairs?limit=1&{query}") for pair in page]

    assert found("") == [first.pk, second.pk]
    assert found("state=confirmed") == found("verdict=duplicate") == found("probability_from=0.5") == [first.pk]
    assert found(f"article={articles[1].pk}") == [first.pk, second.pk]
    assert found("state=undecided&verdict=duplicate") == []


# ---- check, runs ----


def test_a_check_names_likely_copies_and_fetches_nothing(reader: Caller, store: StoreArticle, settings) -> None:
    settings.PAGE_FETCHER = "tests.nothing.is_here"
    stored = store(FERRY, headline="Night ferry cancelled", date="2026-03-02")
    copy = store(FERRY + "Buses run instead.", newspaper="Echo", date="2026-03-03")
    found = reader.post("/check", {"text": FERRY, "headline": "Night ferry cancelled", "day": "2026-03-02"}).json()
    assert [copy_["article"]["id"] for copy_ in found["copies"]] == [stored.pk, copy.pk]
    assert (found["copies"][0]["likely"], found["copies"][0]["same_text"], found["lang"]) == (True, True, "en")
    assert found["copies"][0]["duplicate_probability"] > 0.9
    by_url = reader.post("/check", {"url": stored.url}).json()
    assert [copy_["article"]["id"] for copy_ in by_url["copies"]] == [copy.pk]
    assert "fetches no pages" in problem(reader.post("/check", {"url": "https://paper.example/not/stored"}), 404)
    assert Article.objects.count() == 2


def test_runs_are_read_and_asked_for(admin: Caller, reader: Caller, store: StoreArticle) -> None:
    article = store()
    done = make_run(counts={"pairs": 3})
    assert reader.read("/runs")["data"] == [reader.read(f"/runs/{done.pk}")]
    make_collection("owner", "Coast Media", article.newspaper)
    store(newspaper="Echo")
    assert [row["id"] for row in reader.read("/articles?collection=Coast%20Media")["data"]] == [article.pk]
    asked = admin.post("/runs", {"since": "2026-03-01", "collections": ["Coast Media"], "new": True})
    assert asked.status_code == 202
    waiting = asked.json()["request"]
    assert (asked.json()["queued"], waiting["since"], waiting["run"]) == (True, "2026-03-01", None)
    assert reader.client.get(asked["Location"]).json() == waiting
    request = Job.objects.get()
    assert (request.requested_by, request.arguments["newspapers"]) == (admin.token.owner, [article.newspaper_id])
    again = admin.post("/runs", {"since": "2026-03-01", "newspapers": [article.newspaper.name], "new": True}).json()
    assert (again["queued"], again["request"]["id"]) == (False, request.pk)
    request.runs.set([done])
    assert reader.read(f"/run-requests/{request.pk}")["run"] == done.pk
    problem(reader.post("/runs", {}), 403)
