"""Lets everybody at an installation, checks every row at the end, and prints the figures. Needs Django to be set up."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client, override_settings

from articles.grouping import by_key
from articles.models import ArticleURL
from dedup.models import Decision, Pair
from tests.load.installation import Chores, Installation, installation
from tests.load.people import Answer, Diary, Editor, Person, Reader, Request

STARTS = ("/", "/queue/", "/articles/", "/clusters/", "/history/", "/runs/", "/reports/", "/stories/", "/compare/")
# So many pairs are shown to all editors again and again, so that they meet.
MEETING_PAIRS = 12

_DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
# Each URL once, though imports and crawls met; no article without one.
_TWICE = "SELECT url FROM articles_articleurl GROUP BY url HAVING count(*) > 1"
_TOLD = {"stored": "stored", "refused": "refused, because somebody was first", "nothing": "without a reply"}


@dataclass(frozen=True, slots=True)
class Load:
    """Who comes, and for how long. `seconds`: of the load; `idle`: of the time before it. `pause`: mean seconds."""

    seconds: float
    idle: float
    editors: int = 8
    readers: int = 20
    pause: float = 1.0
    seed: int = 1
    workers: int = 3
    answers: int | None = None  # ends earlier, after so many


@dataclass
class Outcome:
    """What was measured, and each fault as a sentence."""

    idle: list[Request] = field(default_factory=list)
    load: Diary = field(default_factory=Diary)
    commands: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def put_under_load(load: Load) -> Outcome:
    """Fill the connected database, let everybody at it, and check what is left."""
    with installation() as site:
        wrong, urls = site.import_news(load.seed * 1_000)
        if wrong := wrong or site.manage("find_duplicates", "--no-progress"):
            raise RuntimeError(wrong)
        outcome = Outcome()
        with site.worker(), Chores(site, outcome.load.stop, seed=load.seed * 1_000, pause=load.pause) as chores:
            let_in(site, load, outcome, chores.start)
        outcome.faults += [*chores.faults, *missing_articles([*urls, *chores.urls])]
        # A run that nobody disturbs sees what the others left.
        for arguments in (("find_duplicates", "--no-progress"), ("doctor",)):
            outcome.faults += filter(None, [site.manage(*arguments)])
        outcome.faults += [f"the worker logged: {traceback}" for traceback in tracebacks(site.log("worker"))]
        outcome.commands = site.commands
    return outcome


def let_in(site: Installation, load: Load, outcome: Outcome, begin: Callable[[], None] = lambda: None) -> None:
    """Serve the pages to one editor and one reader, then to all, and compare what they were told with the rows.

    `begin` is called when all come.
    """
    before = deadlocks()
    with site.pages(load.workers) as address:
        alone = _visit(_people(site, address, load, 1, 1), load.idle, Diary())
        outcome.idle = alone.requests
        outcome.load.enough = load.answers
        begin()
        _visit(_people(site, address, load, load.editors, load.readers), load.seconds, outcome.load)
    outcome.faults += [*alone.faults, *outcome.load.faults, *lost_or_doubled([*alone.answers, *outcome.load.answers])]
    outcome.faults += [f"the pages logged: {traceback}" for traceback in tracebacks(site.log("pages"))]
    if deadlocks() > before:
        outcome.faults.append(f"PostgreSQL ended {deadlocks() - before} deadlocks")


def _people(site: Installation, address: str, load: Load, editors: int, readers: int) -> list[Person]:
    pairs = list(Pair.objects.order_by("pk").values_list("pk", flat=True))
    meet_at = tuple(pairs[:: max(1, len(pairs) // MEETING_PAIRS)])
    crowd = "all" if User.objects.filter(username__startswith="alone").exists() else "alone"
    options = {"seed": load.seed, "pause": load.pause}
    people: list[Person] = []
    for name in [f"{crowd}-editor-{number}" for number in range(editors)]:
        session = _session(site, name, "editor")
        people.append(Editor(name, session, address, Diary(), meet_at=meet_at, **options))
    for name in [f"{crowd}-reader-{number}" for number in range(readers)]:
        session = _session(site, name, "viewer")
        people.append(Reader(name, session, address, Diary(), starts=STARTS, **options))
    return people


def _session(site: Installation, name: str, role: str) -> str:
    """Make a user with this role, and return the session of a login: hashing passwords would be the whole load."""
    user = User.objects.create_user(name)
    user.groups.add(Group.objects.get(name=role))
    client = Client()
    with override_settings(SECRET_KEY=site.environment["SECRET_KEY"]):
        client.force_login(user)
    return client.cookies["sessionid"].value


def _visit(people: Sequence[Person], seconds: float, diary: Diary) -> Diary:
    """Let these people work for so many seconds, and return their diary."""
    for person in people:
        person.diary = diary
        person.start()
    diary.stop.wait(seconds)
    diary.stop.set()
    for person in people:
        person.join()
    return diary


def tracebacks(log: str) -> list[str]:
    """Return each traceback of a log, without its middle."""
    found = re.findall(r"(^.*\n)?(^Traceback .*\n)((?:^ .*\n)*)(^\S.*)", log, re.MULTILINE)
    return [f"{before}{''.join(lines.splitlines(keepends=True)[-4:])}{error}" for before, _, lines, error in found]


# ---- what people were told, compared with the rows ----


def lost_or_doubled(answers: Iterable[Answer]) -> Iterator[str]:
    """Yield a sentence for each answer whose row is missing, is there twice, or should not be there.

    An answer that got no reply may be stored or not, but only once.
    """
    fields = ("note", "kind", "decided_by__username", "pair", "undoes")
    noted = Decision.objects.exclude(note="").values_list(*fields)
    rows = by_key((note, tuple(rest)) for note, *rest in noted)
    for answer in answers:
        found = rows.pop(answer.note, [])
        meant = (answer.kind, answer.editor, answer.pair, answer.undoes)
        wanted = {"stored": (1,), "refused": (0,), "nothing": (0, 1)}[answer.told]
        if len(found) not in wanted:
            yield f"“{answer.note}” ({answer.kind}) was {answer.told}, and there are {len(found)} rows of it"
        elif found and found != [meant]:
            yield f"“{answer.note}” was stored as {found[0]} instead of {meant}"
    yield from (f"“{note}” is stored, and nobody sent it" for note in rows)


def missing_articles(urls: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each imported URL that is not stored, and for each that is stored twice."""
    stored = Counter(ArticleURL.objects.filter(url__in=urls).values_list("url", flat=True))
    yield from (f"{url} was imported and is not stored" for url in urls if not stored[url])
    with connection.cursor() as cursor:
        cursor.execute(_TWICE)
        yield from (f"{url} is stored more than once" for (url,) in cursor)


def deadlocks() -> int:
    """Return how many deadlocks PostgreSQL has ended in this database."""
    with connection.cursor() as cursor:
        cursor.execute(_DEADLOCKS)
        (number,) = cursor.fetchone()
    return int(number)


# ---- the figures ----


def table(outcome: Outcome, rows: int = 16) -> str:
    """Return the seconds of each kind of request, alone and under load, as Markdown."""
    idle, load = _by_name(outcome.idle), _by_name(outcome.load.requests)
    lines = [
        "| request | number | median ms | p95 ms | alone: number | median ms | p95 ms |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    names = sorted(load, key=lambda name: -len(load[name]))
    lines += [f"| {name} | {_cells(load[name])} | {_cells(idle.get(name, []))} |" for name in names[:rows]]
    rest = [seconds for name in names[rows:] for seconds in load[name]]
    rest_idle = [seconds for name in names[rows:] for seconds in idle.get(name, [])]
    lines.append(f"| {len(names[rows:])} others | {_cells(rest)} | {_cells(rest_idle)} |")
    every = [[request.seconds for request in requests] for requests in (outcome.load.requests, outcome.idle)]
    lines.append(f"| all | {_cells(every[0])} | {_cells(every[1])} |")
    return "\n".join(lines)


def _by_name(requests: Sequence[Request]) -> dict[str, list[float]]:
    return by_key((request.name, request.seconds) for request in requests)


def _cells(seconds: Sequence[float]) -> str:
    if not seconds:
        return "0 | – | –"
    return f"{len(seconds):,} | {1000 * np.median(seconds):.0f} | {1000 * np.percentile(seconds, 95):.0f}"


def summary(outcome: Outcome) -> str:
    told = Counter(answer.told for answer in outcome.load.answers)
    statuses = Counter(request.status for request in outcome.load.requests)
    lines = [
        f"Requests by status: {', '.join(f'{status}: {number:,}' for status, number in sorted(statuses.items()))}",
        "Answers: " + ", ".join(f"{told[name]:,} {words}" for name, words in _TOLD.items()),
        f"Commands: {', '.join(f'{name} {number}' for name, number in outcome.commands.most_common())}",
        f"Faults: {len(outcome.faults)}",
    ]
    return "\n".join([*lines, *(f"- {fault}" for fault in outcome.faults[:50])])
