"""A client of the API of newsdedup, in one file. It needs Python 3.11 or newer and httpx; copy it where you need it.

    with Client("https://newsdedup.example", token="newsdedup_…") as news:
        for cluster in news.clusters(size_from=3):
            print(cluster["kept"]["headline"], cluster["size"])

Lists are iterators that fetch page after page. Rows are dictionaries with the names of the API, described in
docs/api.md and, field by field, at /api/v1/openapi.json. An error of the server is an APIError. A request that came
too soon after many others is sent again when the server allows.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import TracebackType
from typing import Any, Literal, NotRequired, Self, TypedDict

import httpx

Day = datetime.date | str

STORED_AT_ONCE = 100
_PAGE = 200
_WAITS = 3

# <!-- write_docs: client_types -->

Kind = Literal["confirm", "reject", "version", "template", "part", "unsure"]
State = Literal["undecided", "confirmed", "rejected", "version", "template", "part", "unsure"]
Verdict = Literal["duplicate", "version", "template", "similar"]
Event = Literal["cluster.new", "cluster.changed", "cluster.confirmed", "alarm"]


class Article(TypedDict):
    """An article without its text."""

    id: int
    url: str
    newspaper: str
    date: str
    published_at: str | None
    headline: str
    lang: str
    external_id: str
    cluster: int | None


class ArticleFull(Article):
    """An article with its text and all its URLs."""

    content: str
    byline: str
    agency: str
    dateline: str
    text_doubt: str
    urls: list[str]
    other_headlines: list[str]
    stored_at: str


class NewArticle(TypedDict):
    """An article to store. What ingest refuses is in the result of its row, with the reason."""

    url: str
    date: str
    content: str
    headline: NotRequired[str]
    newspaper: NotRequired[str]
    external_id: NotRequired[str]
    lang: NotRequired[str]
    byline: NotRequired[str]
    agency: NotRequired[str]
    dateline: NotRequired[str]


class Stored(TypedDict):
    """The result for an article: created, attached to a stored one, known already, or rejected for a reason."""

    outcome: Literal["created", "attached", "known", "rejected"]
    article: int | None
    reason: str


class Cluster(TypedDict):
    """Articles that a reader would call the same."""

    id: int
    state: Literal["proposed", "confirmed"]
    size: int
    lowest_probability: float
    first_day: str
    last_day: str
    kept: Article
    kept_text: int


class Story(TypedDict):
    """A cluster, or an article that is in none."""

    number: int
    article: Article
    first_sentence: str
    articles: int
    newspapers: list[str]
    changed_at: str


class Pair(TypedDict):
    """Two articles that a pass has proposed as a pair."""

    id: int
    left: Article
    right: Article
    state: State
    implied: bool
    verdict: Verdict | None
    relation: Literal["copy", "contains", "update", "part", "template", "similar"] | None
    probability: float | None
    duplicate_probability: float | None
    best_score: float
    days_apart: int
    same_newspaper: bool


class Evidence(TypedDict):
    """What a pass found about a pair."""

    pass_name: str
    score: float


class PairFull(Pair):
    """A pair with the evidence and the reasons."""

    relation_probability: float | None
    reasons: list[str]
    left_matched: float | None
    right_matched: float | None
    left_own: int | None
    right_own: int | None
    new_text: str | None
    quoted: float | None
    evidence: list[Evidence]
    decision: int | None


class Decision(TypedDict):
    """One decision of an editor."""

    id: int
    kind: str
    decided_by: str
    decided_at: str
    pair: int | None
    cluster: int | None
    group: int | None
    articles: list[int]
    article: int | None
    note: str
    undoes: int | None
    undone_by: int | None


class Copy(TypedDict):
    """A stored article that may be a copy."""

    article: Article
    likely: bool
    duplicate_probability: float
    verdict: Verdict
    of_text: float
    of_article: float
    same_text: bool
    too_far: list[str]


class Check(TypedDict):
    """What was found, the most probable copies first."""

    words: int
    lang: str
    copies: list[Copy]
    unread: int


class Run(TypedDict):
    """A run of the detection."""

    id: int
    profile: str
    state: Literal["running", "done", "failed", "interrupted"]
    scope: dict[str, Any]
    counts: dict[str, Any]
    started_at: str
    finished_at: str | None
    error: str


class RunRequest(TypedDict):
    """A run that somebody asked for; `run` is null while it waits for a worker."""

    id: int
    profile: str
    since: str | None
    until: str | None
    new: bool
    requested_at: str
    run: int | None


class AskedRun(TypedDict):
    """A run that was asked for: it waits for a worker as `request`, or goes on already as `run`."""

    request: RunRequest | None
    run: Run | None
    queued: bool


class Webhook(TypedDict):
    """A webhook."""

    id: int
    url: str
    events: list[Event]
    active: bool
    fault: str
    made_at: str


class NewWebhook(Webhook):
    """A new webhook with its secret."""

    secret: str


class Delivery(TypedDict):
    """A request to a webhook."""

    id: int
    message: str
    event: str
    state: Literal["waiting", "delivered", "given up"]
    attempts: int
    answer: str
    made_at: str
    tried_at: str | None
    due_at: str | None


# <!-- write_docs: end -->


@dataclass(frozen=True)
class SeenPair:
    """A pair as it was read, with the ETag that a decision on it names."""

    pair: PairFull
    etag: str


class APIError(Exception):
    """An answer of 400 or above. `errors` names each value that is wrong, if the server does."""

    def __init__(self, status: int, detail: str, errors: Sequence[Mapping[str, str]] = ()) -> None:
        super().__init__(f"{status}: {detail}")
        self.status, self.detail, self.errors = status, detail, list(errors)


class NotFoundError(APIError):
    """404: there is no such row."""


class ChangedError(APIError):
    """412: the pair has changed since it was read. Read it, and decide again."""


class TooManyRequestsError(APIError):
    """429, again and again."""


_ERRORS: dict[int, type[APIError]] = {404: NotFoundError, 412: ChangedError, 429: TooManyRequestsError}


class Client:
    """Calls the API at an address with a token. Close it, or use it in a `with` statement."""

    def __init__(
        self, address: str, token: str, *, timeout: float = 60.0, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self._http = httpx.Client(base_url=f"{address.rstrip('/')}/api/v1", headers=headers, timeout=timeout)
        self._sleep = sleep

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    # ---- articles ----

    def articles(
        self,
        *,
        newspaper: str | None = None,
        collection: str | None = None,
        since: Day | None = None,
        until: Day | None = None,
        q: str | None = None,
    ) -> Iterator[Article]:
        """Yield articles, the earliest first; with `q`, those that a search by words finds."""
        return self._rows("/articles", newspaper=newspaper, collection=collection, since=since, until=until, q=q)

    def article(self, number: int) -> ArticleFull:
        """Return an article with its text. Raises NotFoundError."""
        return self._read(f"/articles/{number}")

    def article_by_url(self, url: str) -> ArticleFull | None:
        """Return the article with this URL, or with the same URL but for tracking parameters; None if none has it."""
        try:
            return self._read("/articles/by-url", url=url)
        except NotFoundError:
            return None

    def store(self, articles: Iterable[NewArticle]) -> Iterator[Stored]:
        """Store articles, a hundred in a request; yield what became of each, in their order."""
        left = iter(articles)
        while some := list(islice(left, STORED_AT_ONCE)):
            yield from self._send("POST", "/articles", {"articles": some}).json()["results"]

    # ---- clusters and stories ----

    def clusters(
        self, *, state: Literal["proposed", "confirmed"] | None = None, size_from: int | None = None
    ) -> Iterator[Cluster]:
        """Yield clusters by their number."""
        return self._rows("/clusters", state=state, size_from=size_from)

    def cluster(self, number: int) -> Cluster:
        """Return a cluster. Raises NotFoundError."""
        return self._read(f"/clusters/{number}")

    def cluster_articles(self, number: int) -> Iterator[Article]:
        """Yield the articles of a cluster, the earliest first. Raises NotFoundError."""
        return self._rows(f"/clusters/{number}/articles")

    def stories(self, *, since: Day | None = None, until: Day | None = None) -> Iterator[Story]:
        """Yield each cluster once, and each article that is in none; the latest first."""
        return self._rows("/stories", since=since, until=until)

    # ---- pairs and decisions ----

    def pairs(
        self,
        *,
        state: State | None = None,
        verdict: Verdict | None = None,
        article: int | None = None,
        probability_from: float | None = None,
    ) -> Iterator[Pair]:
        """Yield the pairs that some pass proposes, by their number."""
        return self._rows("/pairs", state=state, verdict=verdict, article=article, probability_from=probability_from)

    def pair(self, number: int) -> SeenPair:
        """Return a pair, and what a decision on it names. Raises NotFoundError."""
        answer = self._send("GET", f"/pairs/{number}")
        return SeenPair(answer.json(), answer.headers["ETag"])

    def decide(self, seen: SeenPair, kind: Kind, note: str = "") -> Decision:
        """Decide on a pair as it was read. Raises ChangedError if it has changed since."""
        path = f"/pairs/{seen.pair['id']}/decisions"
        return self._sent("POST", path, {"kind": kind, "note": note}, {"If-Match": seen.etag})

    def decisions(self, *, pair: int | None = None, decided_by: str | None = None) -> Iterator[Decision]:
        """Yield decisions, the latest first."""
        return self._rows("/decisions", pair=pair, decided_by=decided_by)

    def undo(self, decision: int, note: str = "") -> Decision:
        """Undo a decision. Raises APIError, 409, if it is undone already."""
        return self._sent("POST", f"/decisions/{decision}/undo", {"note": note})

    # ---- check and runs ----

    def check(self, text: str, *, headline: str = "", day: Day | None = None) -> Check:
        """Return the stored articles that a text may be a copy of."""
        asked = {"text": text, "headline": headline, "day": str(day) if day else None}
        return self._sent("POST", "/check", asked)

    def check_url(self, url: str) -> Check:
        """Return the same for the article that is stored under a URL. Raises NotFoundError; nothing is fetched."""
        return self._sent("POST", "/check", {"url": url})

    def runs(self) -> Iterator[Run]:
        """Yield runs, the latest first."""
        return self._rows("/runs")

    def run(self, number: int) -> Run:
        """Return a run. Raises NotFoundError."""
        return self._read(f"/runs/{number}")

    def ask_for_run(
        self,
        *,
        profile: str | None = None,
        since: Day | None = None,
        until: Day | None = None,
        newspapers: Sequence[str] = (),
        collections: Sequence[str] = (),
        new: bool = False,
    ) -> AskedRun:
        """Queue a run for the worker, unless the same run already waits or goes on."""
        days = {name: str(day) for name, day in (("since", since), ("until", until)) if day is not None}
        units = {"newspapers": list(newspapers), "collections": list(collections)}
        body = {"profile": profile, **days, **units, "new": new}
        return self._sent("POST", "/runs", body)

    def run_request(self, number: int) -> RunRequest:
        """Return a run that was asked for. Raises NotFoundError."""
        return self._read(f"/run-requests/{number}")

    # ---- webhooks ----

    def webhooks(self) -> Iterator[Webhook]:
        """Yield the webhooks of the token's owner."""
        return self._rows("/webhooks")

    def make_webhook(self, url: str, events: Sequence[Event] = ("cluster.new",)) -> NewWebhook:
        """Make a webhook, and return it with its secret."""
        return self._sent("POST", "/webhooks", {"url": url, "events": list(events)})

    def change_webhook(
        self, number: int, *, url: str | None = None, events: Sequence[Event] | None = None, active: bool | None = None
    ) -> Webhook:
        """Change what is not None."""
        given = {"url": url, "events": list(events) if events is not None else None, "active": active}
        changes = {name: value for name, value in given.items() if value is not None}
        return self._sent("PATCH", f"/webhooks/{number}", changes)

    def delete_webhook(self, number: int) -> None:
        """Delete a webhook with what waits for it."""
        self._send("DELETE", f"/webhooks/{number}")

    def send_test(self, number: int) -> None:
        """Queue a request without clusters to a webhook."""
        self._send("POST", f"/webhooks/{number}/test", {})

    def deliveries(self, webhook: int) -> Iterator[Delivery]:
        """Yield what was sent to a webhook or waits, the latest first."""
        return self._rows(f"/webhooks/{webhook}/deliveries")

    # ---- requests ----

    def _rows(self, path: str, **filters: Any) -> Iterator[Any]:
        asked = {name: str(value) for name, value in filters.items() if value is not None}
        page: dict[str, Any] = self._send("GET", path, query={"limit": str(_PAGE), **asked}).json()
        while True:
            yield from page["data"]
            if not page["next"]:
                return
            # Only its query: the server may be reached under another name than it knows.
            page = self._send("GET", path, query=dict(httpx.URL(page["next"]).params)).json()

    def _read(self, path: str, **query: str) -> Any:
        return self._send("GET", path, query=query).json()

    def _sent(self, method: str, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Any:
        return self._send(method, path, body, headers).json()

    def _send(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        query: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Return the answer to a request. Raises APIError and, without an answer, httpx.HTTPError."""
        for attempt in range(_WAITS + 1):
            answer = self._http.request(method, path, json=body, headers=headers, params=query or None)
            if answer.status_code != httpx.codes.TOO_MANY_REQUESTS or attempt == _WAITS:
                break
            self._sleep(float(answer.headers.get("Retry-After", "1")))
        if answer.is_error:
            raise _error(answer)
        return answer


def _error(answer: httpx.Response) -> APIError:
    try:
        problem: dict[str, Any] = answer.json()
    except ValueError:  # from a proxy, perhaps
        problem = {"detail": answer.reason_phrase}
    kind = _ERRORS.get(answer.status_code, APIError)
    return kind(answer.status_code, problem.get("detail", ""), problem.get("errors", ()))
