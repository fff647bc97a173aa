"""`/metrics`: figures for monitoring in the text format of Prometheus, for programs with the token of METRICS_TOKEN.

Each figure comes from an index, from a small table, or from what PostgreSQL knows of a large one. Each is a gauge: all
are read from the database, and may fall.
"""

import datetime
import hmac
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from django.conf import settings
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django_tasks_db.models import DBTaskResult
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.registry import Collector

from articles.models import Job
from crawlers.models import CrawlSchedule
from crawlers.requested.queue import KIND as CRAWL
from dedup.detection.runs.requests import is_worker_alive
from dedup.models import Delivery, DetectionRun, Pair, Profile, QuestionCount, Worker
from dedup.models.base import read_rows
from newsdedup_site.alarms.finding import crawled, database_bytes, disks, find_everywhere
from newsdedup_site.alarms.kinds import KINDS

# What the last ANALYZE or VACUUM counted; -1 before the first one.
_ROWS_SQL = "SELECT reltuples FROM pg_class WHERE oid = to_regclass(%(table)s)"
# By the index pair_queue, up to a ceiling: what was decided is a small part of the pairs.
_DECIDED_SQL = """
SELECT name, (SELECT count(*) FROM (SELECT FROM dedup_pair WHERE state = name LIMIT %(ceiling)s) AS counted)
FROM unnest(%(states)s::text[]) AS state (name)
"""
_CEILING = 100_000
# Decisions are appended, so those of today are the last ones of the primary key: it reads no others.
_TODAY_SQL = """
SELECT count(*) FROM dedup_decision WHERE id > coalesce(
    (SELECT id FROM dedup_decision WHERE decided_at < %(midnight)s ORDER BY id DESC LIMIT 1), 0)
"""


@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer with all gauges; 401 without the token, and 404 if none is set."""
    if not settings.METRICS_TOKEN:
        raise Http404
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    # Both as bytes: a comparison of texts refuses what is not ASCII.
    given, expected = token.strip().encode("utf-8", "replace"), settings.METRICS_TOKEN.encode()
    if not hmac.compare_digest(given, expected) or scheme.lower() != "bearer":
        return HttpResponse(
            "Send the token of METRICS_TOKEN as Authorization: Bearer TOKEN.\n",
            status=401,
            content_type="text/plain; charset=utf-8",
            headers={"WWW-Authenticate": 'Bearer realm="metrics"'},
        )
    return HttpResponse(generate_latest(_REGISTRY), content_type=CONTENT_TYPE_PLAIN_0_0_4)


def gauge(name: str, help_text: str, samples: Iterable[tuple[Mapping[str, str], float]]) -> GaugeMetricFamily:
    """Return a gauge: its name after newsdedup_, and its samples, each with the values of its labels."""
    samples = list(samples)
    made = GaugeMetricFamily(f"newsdedup_{name}", help_text, labels=list(samples[0][0]) if samples else None)
    for labels, value in samples:
        made.add_metric(list(labels.values()), value)
    return made


def single(name: str, help_text: str, value: float | None) -> GaugeMetricFamily:
    """Return a gauge without labels; without a sample if there is no value."""
    return gauge(name, help_text, [] if value is None else [({}, value)])


class _Gauges(Collector):
    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield every metric. Sizes of large tables are estimates of PostgreSQL, as their help says."""
        now = timezone.now()
        yield from _archive(now)
        yield from _runs(now)
        yield from _crawls()
        yield from _machine(now)


_REGISTRY = CollectorRegistry(auto_describe=False)
_REGISTRY.register(_Gauges())


def _archive(now: datetime.datetime) -> Iterator[GaugeMetricFamily]:
    yield single("articles", "Articles, as PostgreSQL estimates them.", _estimate("articles_article"))
    yield gauge("pairs", "Pairs of articles by state; undecided ones are an estimate.", _pairs())
    counts = QuestionCount.objects.order_by("tab").values_list("tab", "number")
    yield gauge("questions", "Questions that wait for an answer, by tab.", [({"tab": tab}, n) for tab, n in counts])
    midnight = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    [(today,)] = read_rows(_TODAY_SQL, midnight=midnight)
    yield single("decisions_today", "Decisions since midnight in TIME_ZONE.", today)


def _pairs() -> list[tuple[Mapping[str, str], float]]:
    """Return the decided pairs by state, counted up to _CEILING each; the others are the rest of the estimate."""
    states = [state for state, _ in Pair.DECIDED]
    decided = read_rows(_DECIDED_SQL, states=states, ceiling=_CEILING)
    samples: list[tuple[Mapping[str, str], float]] = [({"state": state}, number) for state, number in decided]
    pairs = _estimate("dedup_pair")
    if pairs is not None:
        rest = max(0.0, pairs - sum(number for _, number in decided))
        samples.append(({"state": str(Pair.State.UNDECIDED)}, rest))
    return samples


def _estimate(table: str) -> float | None:
    rows = read_rows(_ROWS_SQL, table=table)
    return float(rows[0][0]) if rows and rows[0][0] >= 0 else None


def _runs(now: datetime.datetime) -> Iterator[GaugeMetricFamily]:
    run = DetectionRun.objects.order_by("-pk").only("started_at", "finished_at", "state").first()
    states = [({"state": str(state)}, float(run is not None and run.state == state)) for state in DetectionRun.State]
    yield gauge("last_run_state", "1 for the state of the latest run, 0 for the others.", states)
    started = run.started_at.timestamp() if run else None
    finished = run.finished_at.timestamp() if run and run.finished_at else None
    yield single("last_run_started_seconds", "When the latest run started, in seconds since 1970.", started)
    yield single("last_run_finished_seconds", "When it ended; missing while it is active.", finished)
    seconds = finished - started if finished is not None and started is not None else None
    yield single("last_run_duration_seconds", "From its start to its end, with pauses if it was resumed.", seconds)
    yield from _nights(now)
    yield single("worker_alive", "1 if a worker gave a sign of life within 30 seconds.", float(is_worker_alive()))
    yield single("workers", "Workers that gave a sign of life within a day.", Worker.objects.count())
    yield single("tasks_waiting", "Tasks that a worker should have begun.", DBTaskResult.objects.ready().count())
    due = Delivery.objects.filter(state=Delivery.State.WAITING, webhook__active=True)
    yield single("webhook_requests_waiting", "Requests to webhooks that were not accepted yet.", due.count())


def _nights(now: datetime.datetime) -> Iterator[GaugeMetricFamily]:
    profiles = list(Profile.objects.exclude(nightly_at=None).order_by("name"))
    of_these = DetectionRun.objects.filter(state=DetectionRun.State.DONE, profile__in=profiles)
    latest = {run.profile_id: run for run in of_these.order_by("profile_id", "-pk").distinct("profile_id")}
    ages = [
        ({"profile": profile.name}, (now - latest[profile.pk].started_at).total_seconds())
        for profile in profiles
        if profile.pk in latest
    ]
    yield gauge("nightly_run_age_seconds", "Seconds since the last finished run of a nightly profile began.", ages)


def _crawls() -> Iterator[GaugeMetricFamily]:
    good = crawled().exclude(last_good=None).order_by("name").values_list("name", "last_good")
    samples = [({"newspaper": name}, last.timestamp()) for name, last in good]
    yield gauge("newspaper_last_success_seconds", "Last good visit, in seconds since 1970.", samples)
    states = Job.objects.filter(kind=CRAWL).aggregate(
        running=Count("pk", filter=Q(state=Job.State.RUNNING)), waiting=Count("pk", filter=Q(state=Job.State.WAITING))
    )
    yield gauge("crawls", "Crawls of the worker now, by state.", [({"state": name}, n) for name, n in states.items()])
    yield single("crawl_schedules", "Newspapers that are crawled by a schedule.", CrawlSchedule.objects.count())


def _machine(now: datetime.datetime) -> Iterator[GaugeMetricFamily]:
    found = Counter(alarm.kind for alarm in find_everywhere(now))
    yield gauge("alarms", "Alarms now, by kind.", [({"kind": kind}, found[kind]) for kind in KINDS])
    yield single("database_bytes", "Size of the database with its indexes.", database_bytes())
    states = disks().items()
    free = [({"folders": folders}, float(state.f_bavail * state.f_frsize)) for folders, state in states]
    yield gauge("disk_free_bytes", "Bytes that this process may still write, by disk.", free)
    size = [({"folders": folders}, float(state.f_blocks * state.f_frsize)) for folders, state in states]
    yield gauge("disk_size_bytes", "Size of these disks.", size)
