"""The client and the examples of the documentation, over the network of this machine, against a server that runs."""

import contextlib
import inspect
import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from client import newsdedup_client
from client.newsdedup_client import APIError, ChangedError, Client, NotFoundError, TooManyRequestsError
from dedup.api.app import api
from dedup.integrations.tokens import make_token, scopes_of
from dedup.integrations.webhooks import new_secret, signed_headers
from dedup.models import Decision
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_pair, make_run, make_user

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text()
FERRY = "The night ferry to Port Selby was cancelled on Monday because of the storm, the harbour office said. " * 4


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCS, re.DOTALL)


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_the_client_and_the_examples_do_what_they_say(
    live_server: Any, store: StoreArticle, settings, tmp_path, monkeypatch
) -> None:
    user = make_user("ada", "admin")
    _, token = make_token(user, "client", scopes_of(user))
    store(FERRY, newspaper="Post", headline="Night ferry cancelled", url="https://paper.example/2026/03/02/ferry")
    rows = [store(newspaper=f"Paper {number}", date=f"2026-03-{number + 1:02}") for number in range(6)]
    cluster = make_cluster(*rows[:3])
    pair, other = make_pair(rows[3], rows[4], trigram=0.8), make_pair(rows[4], rows[5], verdict="version", trigram=0.7)
    with Client(live_server.url, token) as news:
        monkeypatch.setattr(newsdedup_client, "_PAGE", 2)
        _reads(news, rows, cluster)
        _writes(news, pair.pk)
        _fails(news, settings)
    _runs_the_examples(live_server.url, token, other.pk, tmp_path, monkeypatch)


def _reads(news: Client, rows: list[Any], cluster: Any) -> None:
    assert [article["id"] for article in news.articles(since="2026-03-01")][:1] == [rows[0].pk]
    assert len(list(news.articles())) == 7
    assert news.article(rows[0].pk)["content"] == rows[0].content
    assert news.article_by_url("https://paper.example/none") is None
    found = news.article_by_url("https://paper.example/2026/03/02/ferry")
    assert found is not None
    assert found["headline"] == "Night ferry cancelled"
    assert list(news.clusters(size_from=3)) == [news.cluster(cluster.pk)]
    assert [article["id"] for article in news.cluster_articles(cluster.pk)] == [row.pk for row in rows[:3]]
    assert sorted(story["articles"] for story in news.stories()) == [1, 1, 1, 1, 3]
    assert news.check(FERRY, day="2026-03-02")["copies"][0]["same_text"]
    assert news.check_url(found["url"])["copies"] == []
    run = make_run()
    assert next(listed["id"] for listed in news.runs()) == run.pk
    assert news.run(run.pk)["state"] == "done"


def _writes(news: Client, pair: int) -> None:
    new: list[Any] = [
        {"url": f"https://paper.example/new/{number}", "date": "2026-03-05", "content": f"Text {number}."}
        for number in range(newsdedup_client.STORED_AT_ONCE + 1)
    ]
    assert [answer["outcome"] for answer in news.store(iter([*new, new[0]]))] == ["created"] * 101 + ["known"]
    seen = news.pair(pair)
    made = news.decide(seen, "confirm", note="Same.")
    with pytest.raises(ChangedError, match="has changed since you read it"):
        news.decide(seen, "reject")
    assert news.undo(made["id"])["undoes"] == made["id"]
    assert [decision["kind"] for decision in news.decisions(pair=pair)] == ["undo", "confirm"]
    asked = news.ask_for_run(new=True)
    assert asked["request"] is not None
    assert news.run_request(asked["request"]["id"])["new"]
    hook = news.make_webhook("https://receiver.example/")
    assert hook["secret"].startswith("whsec_")
    news.send_test(hook["id"])
    assert [delivery["state"] for delivery in news.deliveries(hook["id"])] == ["waiting"]
    assert news.change_webhook(hook["id"], active=False)["active"] is False
    news.delete_webhook(hook["id"])
    assert list(news.webhooks()) == []


def _fails(news: Client, settings: Any) -> None:
    with pytest.raises(NotFoundError):
        news.article(987_654)
    with pytest.raises(APIError) as refused:
        list(news.articles(since="soon"))
    assert (refused.value.status, refused.value.errors[0]["where"]) == (422, "query/since")
    settings.API_REQUESTS_A_MINUTE, before = 1, settings.API_REQUESTS_A_MINUTE
    waited: list[float] = []
    news._sleep = waited.append
    with pytest.raises(TooManyRequestsError):
        list(news.runs())
    assert len(waited) == 3
    settings.API_REQUESTS_A_MINUTE = before


def _runs_the_examples(url: str, token: str, pair: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def here(text: str) -> str:
        return text.replace("http://localhost:8000", url).replace("pairs/17", f"pairs/{pair}")

    monkeypatch.setenv("NEWSDEDUP_TOKEN", token)
    monkeypatch.syspath_prepend(str(Path(newsdedup_client.__file__).parent))
    example = next(block for block in blocks("python") if "newsdedup_client" in block)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(compile(here(example), "docs/api.md", "exec"), {})  # noqa: S102 - our own text
    assert "3 Headline number 2" in said.getvalue()
    assert "https://paper.example/2026/03/02/ferry" in said.getvalue()
    if not shutil.which("curl"):
        pytest.skip("NO CURL: its examples did not run.")
    for block in blocks("sh"):
        script = here(block).replace("export NEWSDEDUP_TOKEN=newsdedup_…\n", "").replace("curl ", "curl -sf ")
        done = subprocess.run(["sh", "-ec", script], capture_output=True, cwd=tmp_path, check=True)
        assert json.loads(done.stdout)
    assert Decision.objects.filter(pair=pair, note="The same agency report.").exists()


def test_every_operation_has_a_method() -> None:
    source = inspect.getsource(Client)
    for path in api.get_openapi_schema()["paths"]:
        named = path.removeprefix("/api/v1").split("{")[0]
        assert named in source, path


def test_an_answer_that_is_no_problem_details_is_an_error_too() -> None:
    def proxy(request: httpx.Request) -> httpx.Response:
        return httpx.Response(502, text="<html>")

    with Client("http://news.example/", "t") as news:
        news._http.close()
        news._http = httpx.Client(base_url="http://news.example", transport=httpx.MockTransport(proxy))
        with pytest.raises(APIError, match="502: Bad Gateway"):
            news.run(1)


def test_the_check_of_a_signature_in_the_documentation_works() -> None:
    names: dict[str, Any] = {}
    exec(next(block for block in blocks("python") if "hmac" in block), names)  # noqa: S102 - our own text
    secret, body = new_secret(), '{"letters": "äß"}'.encode()
    headers = signed_headers(secret, "message", 1_770_000_000, body)
    assert names["is_from_newsdedup"](secret, headers, body)
    assert not names["is_from_newsdedup"](secret, headers, body + b" ")
    assert not names["is_from_newsdedup"](new_secret(), headers, body)
