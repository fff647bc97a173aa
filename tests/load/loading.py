"""Lets everybody at an installation, and checks every row at the end. Needs Django to be set up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from django.contrib.auth.models import Group, User
from django.test import Client, override_settings

from dedup.models import Pair
from tests.load.checks import deadlocks, lost_or_doubled, missing_articles
from tests.load.installation import Chores, Installation, installation
from tests.load.people import Diary, Editor, Person, Reader, Request

STARTS = ("/", "/queue/", "/articles/", "/clusters/", "/history/", "/runs/", "/reports/", "/stories/", "/compare/")
# So many pairs are shown to all editors again and again, so that they meet.
MEETING_PAIRS = 12


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
        imported, urls = site.import_news(load.seed * 1_000)
        found = site.manage("find_duplicates", "--no-progress")
        if imported.status or found.status:
            raise RuntimeError(imported.output + found.output)
        outcome = Outcome()
        with site.worker(), Chores(site, outcome.load.stop, seed=load.seed * 1_000, pause=load.pause) as chores:
            let_in(site, load, outcome, chores.start)
        outcome.faults += [*chores.faults, *missing_articles([*urls, *chores.urls])]
        # A run that nobody disturbs sees what the others left.
        for arguments in (("find_duplicates", "--no-progress"), ("doctor",)):
            ended = site.manage(*arguments)
            outcome.faults += [f"{ended.command} ended with {ended.status}: {ended.output}"] if ended.status else []
        outcome.faults += [f"the worker logged: {traceback}" for traceback in tracebacks(site.log("worker"))]
        outcome.commands = Counter(command.command for command in site.commands)
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
    answers = [*alone.answers, *outcome.load.answers]
    outcome.faults += [*alone.faults, *outcome.load.faults, *lost_or_doubled(answers)]
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
