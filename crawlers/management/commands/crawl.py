"""`manage.py crawl`: visit newspapers and store their articles."""

import fcntl
import logging
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings as site_settings
from django.core.management.base import CommandError, CommandParser
from django.db import connections
from scrapy.settings import Settings

from articles.management.arguments import add_newspaper_arguments, day, number_up_to
from articles.management.base import ExitCode, LongCommand, usage_error
from articles.models import Newspaper
from articles.storage.title_affixes import affixes_line, update_affixes_and_forms
from crawlers import frontier, visits
from crawlers.fetching.addresses import allowed_networks
from crawlers.listings.lists import read_list, save_list
from crawlers.models import Visit
from crawlers.reasons import DATABASE_LOST, find_reason
from crawlers.spiders.base import NewspaperSpider
from crawlers.spiders.revision import RevisionSpider, WaitingSpider
from crawlers.visiting import SPIDERS, VisitingProcess, VisitPlan, plan_visits
from crawlers.visits import newspapers_to_crawl

MAX_LIMIT = 1_000_000
STDIN = "-"
LOG_LEVELS = {2: "INFO", 3: "DEBUG"}


class Command(LongCommand):
    help = (
        "Visit newspapers through their feeds, sitemaps and section pages, and store new articles. For each "
        "newspaper, print how many articles were stored and how many links were already known, and list the failures "
        "with their remedies. A crawl that was interrupted or killed resumes when it is run again."
    )

    resuming = "Run the same command again to resume, or with --fresh to start over."
    ends: ClassVar = LongCommand.ends | {ExitCode.ACTIVE}

    def add_arguments(self, parser: CommandParser) -> None:
        add_newspaper_arguments(parser, without="all that are marked for crawl")
        parser.add_argument("--spider", choices=SPIDERS, help="use only this kind of source")
        parser.add_argument(
            "--set",
            dest="overrides",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="change a Scrapy setting for this crawl, such as DOWNLOAD_DELAY=2",
        )
        parser.add_argument(
            "--urls",
            metavar="FILE",
            help="instead, visit the URLs in this file, one a line or in a column of CSV or JSON lines, and store each "
            "article under the newspaper of its host; - reads standard input",
        )
        parser.add_argument(
            "--since",
            type=day,
            metavar="DAY",
            help="only links of this day or later, and those without a day (default for sitemaps: SITEMAP_DAYS ago)",
        )
        parser.add_argument(
            "--limit",
            type=number_up_to(MAX_LIMIT),
            metavar="N",
            help="visit no more than N links of each newspaper, the newest first; the next crawl visits further ones",
        )
        parser.add_argument(
            "--fresh",
            action="store_true",
            help="forget waiting links, refused links and the recorded states of sources, and read everything again",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        scrapy_settings = _scrapy_settings(options["overrides"], options["verbosity"])
        scrapy_settings.set("CRAWL_SINCE", str(options["since"] or ""), priority="cmdline")
        scrapy_settings.set("CRAWL_LIMIT", options["limit"] or 0, priority="cmdline")
        if options["urls"] and (options["newspapers"] or options["spider"] or options["fresh"]):
            raise usage_error("--urls takes no newspapers, --spider or --fresh: the URLs alone decide what is visited.")
        with _only_crawl(site_settings.CRAWL_STATE_DIR):
            visits.tidy_visits()
            frontier.tidy_links()
            newspapers, spiders = self._listed(options["urls"]) if options["urls"] else _chosen(options)
            if options["urls"] and not newspapers:
                return
            plans = plan_visits(newspapers, spiders, site_settings.CRAWL_STATE_DIR, scrapy_settings)
            if not plans:
                raise CommandError(_nothing_to_visit(newspapers, options["spider"]))
            if options["fresh"]:
                frontier.forget([newspaper.pk for newspaper in newspapers])
            interrupted = self._run(scrapy_settings, plans, options)
        self._report(scrapy_settings, plans)
        if interrupted:
            raise KeyboardInterrupt
        _check(plans)
        fruitful = (newspaper for newspaper in newspapers if _counts(newspaper, plans)["stored"])
        for newspaper in update_affixes_and_forms(fruitful):
            self.stdout.write(affixes_line(newspaper))
        failed = [newspaper.name for newspaper in newspapers if _only_failed(_counts(newspaper, plans))]
        # Of a list, some links are always dead.
        if failed and (not options["urls"] or len(failed) == len(newspapers)):
            raise CommandError(f"only failures, listed above: {', '.join(failed)}; --verbosity 3 shows each request")

    def _report(self, scrapy_settings: Settings, plans: list[VisitPlan]) -> None:
        for newspaper in {plan.newspaper.pk: plan.newspaper for plan in plans}.values():
            self.stdout.write(_summary(newspaper, _counts(newspaper, plans)))
        for line in _explained(plans, scrapy_settings):
            self.stdout.write(f"    {line}")

    def _listed(self, name: str) -> tuple[list[Newspaper], list[type[NewspaperSpider]]]:
        """Save the URLs of a list; return the newspapers with links to visit, and what visits them."""
        try:
            with nullcontext(sys.stdin.buffer) if name == STDIN else Path(name).open("rb") as stream:
                saved = save_list(read_list(stream))
        except OSError as error:
            raise usage_error(f"--urls {name} cannot be opened: {error.strerror}; check the path") from error
        newspapers = sorted(saved.newspapers.values(), key=lambda newspaper: newspaper.name)
        counts = f"{saved.new:,} to visit of {len(newspapers):,} newspapers, {saved.known:,} known"
        counts += f", {saved.refused_earlier:,} refused earlier, {saved.repeated:,} repeated"
        self.stdout.write(f"{name}: {saved.urls:,} URLs ({counts}), {saved.faults:,} rows without a URL")
        for fault in saved.first_faults:
            self.stdout.write(f"    {fault}")
        if not saved.urls:
            raise CommandError(f"{name} has no URLs; write one a line, or name a column of CSV or JSON lines url")
        return newspapers, [WaitingSpider]

    def _run(self, scrapy_settings: Settings, plans: list[VisitPlan], options: dict[str, Any]) -> bool:
        # The reactor's thread needs no database: its connections are closed, so that none idles during the crawl.
        connections.close_all()
        with self.progress(options) as progress:
            task = progress.add_task("sources", total=len(plans))
            process = VisitingProcess(scrapy_settings, plans, on_visit_done=lambda: progress.advance(task))
            process.start()
        return process.interrupted


def _chosen(options: Mapping[str, Any]) -> tuple[list[Newspaper], list[type[NewspaperSpider]]]:
    """Return the newspapers and the spiders that the options name. Raises UnknownNewspaperError."""
    spiders = [SPIDERS[options["spider"]]] if options["spider"] else list(SPIDERS.values())
    return newspapers_to_crawl(options["newspapers"]), spiders


def _check(plans: list[VisitPlan]) -> None:
    """Raise CommandError if a visit broke off or lost the database."""
    if broken := [f"{plan.newspaper} ({plan.spider.name})" for plan in plans if plan.broke_off]:
        raise CommandError(f"stopped unexpectedly, for the reason above: {', '.join(broken)}")
    if lost := sum(plan.counts[f"failed/{DATABASE_LOST}"] for plan in plans):
        raise CommandError(f"{lost} failed because the database was lost; run the same command again to fetch them")


def _scrapy_settings(overrides: list[str], verbosity: int) -> Settings:
    settings = Settings()
    settings.setmodule("crawlers.settings", priority="project")
    if verbosity in LOG_LEVELS:
        settings.set("LOG_LEVEL", LOG_LEVELS[verbosity], priority="cmdline")
    for override in overrides:
        name, separator, value = override.partition("=")
        if not separator:
            raise usage_error(f"--set {override!r} has no value; write --set NAME=VALUE")
        if name not in settings:
            raise usage_error(f"--set {name}: there is no Scrapy setting with this name")
        settings.set(name, value, priority="cmdline")
    try:
        allowed_networks(settings)
    except ValueError as error:
        raise usage_error(f"CRAWL_PRIVATE_ADDRESSES cannot be read: {error}") from error
    levels = logging.getLevelNamesMapping()
    if (level := settings["LOG_LEVEL"]) not in levels:
        raise usage_error(f"LOG_LEVEL {level!r} is unknown; write one of {', '.join(levels)}")
    return settings


def _nothing_to_visit(newspapers: list[Newspaper], spider: str | None) -> str:
    if newspapers and spider == RevisionSpider.name:
        return "no newspaper keeps later versions; give it revision days in the admin, or add --set REVISION_DAYS=7"
    kinds = f"{spider} URLs" if spider else "feed, sitemap or section URLs"
    if not newspapers:
        return f"no newspaper is marked for crawl; add one with its {kinds} in the admin"
    names = ", ".join(newspaper.name for newspaper in newspapers)
    return f"no {kinds} to visit for {names}; add them in the admin"


@contextmanager
def _only_crawl(states: Path) -> Iterator[None]:
    """Lock the folder of the queues: two crawls would write to the same ones."""
    states.mkdir(parents=True, exist_ok=True)
    lock = os.open(states / "crawl.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise CommandError(
            f"another crawl is running in {states}; wait until it ends", returncode=ExitCode.ACTIVE
        ) from error
    else:
        yield
    finally:
        os.close(lock)


def _counts(newspaper: Newspaper, plans: list[VisitPlan]) -> Counter[str]:
    return sum((plan.counts for plan in plans if plan.newspaper.pk == newspaper.pk), Counter())


def _only_failed(counts: Counter[str]) -> bool:
    return bool(counts) and all(outcome.startswith("failed/") for outcome in counts)


def _summary(newspaper: Newspaper, counts: Counter[str]) -> str:
    failures = visits.failures_of(counts)
    paywalled = f" ({counts['paywalled']} behind a paywall)" if counts["paywalled"] else ""
    parts = [f"{counts['stored']} stored{paywalled}", f"{counts['known']} known"]
    words = {name: name.replace("_", " ") for name in Visit.COUNTS} | {"rechecked": "fetched again"}
    others = [name for name in words if counts[name] and name not in {"stored", "known", "paywalled"}]
    parts += [f"{counts[name]} {words[name]}" for name in others]
    reasons = "; ".join(f"{reason}: {number}" for reason, number in sorted(failures.items()))
    failed = f"{sum(failures.values())} failed" + (f" ({reasons})" if reasons else "")
    return f"{newspaper.name}: {', '.join([*parts, failed])}"


def _explained(plans: list[VisitPlan], settings: Settings) -> Iterator[str]:
    """Yield a line about what was left out, and one for each reason of failures: its meaning and its remedy."""
    if any(plan.counts["left_out"] for plan in plans):
        yield f"left out: {_left_out(settings)}"
    counted = {reason for plan in plans for reason in visits.failures_of(plan.counts)}
    for name in sorted({reason.partition(": ")[0] for reason in counted}):
        reason = find_reason(name)
        yield f"{name}: {reason.meaning} {reason.remedy}".rstrip()


def _left_out(settings: Settings) -> str:
    """Return which links and sitemaps this crawl leaves out, and how to read them."""
    since, limit = settings["CRAWL_SINCE"], settings.getint("CRAWL_LIMIT")
    days, links = settings.getint("SITEMAP_DAYS"), settings.getint("SITEMAP_MAX_LINKS")
    older = f"older than {since}" if since else f"older than {days:,} days (SITEMAP_DAYS), if a sitemap lists it"
    most = f"{limit:,} links (--limit)" if limit else f"{links:,} new links of sitemaps (SITEMAP_MAX_LINKS)"
    return f"What is {older}, or beyond {most}. Crawl again for more links, with --since DAY for older ones."
