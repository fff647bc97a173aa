"""Which newspaper prints which story, when, and what changes from print to print.

Nothing is listed by hand. The scenarios receive stories in the order of their keys, one from each section in turn;
agency copy goes to the syndicated scenario first. A story's place in its scenario decides the newspapers, and its key
the days.
"""

import datetime
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from typing import Literal

from crawlers.demo import edits
from crawlers.demo.papers import PAPERS, PARTS, Trouble, troubles_of
from crawlers.demo.stories import Stories, Story, load_stories

Truth = Literal["duplicate", "version", "template", "same_event", "unrelated"]

FIRST_DAY = datetime.date(2026, 3, 2)
LAST_DAY = datetime.date(2026, 3, 22)
_DAYS = (LAST_DAY - FIRST_DAY).days + 1
_SATURDAYS = range(5, _DAYS, 7)
_KEYS = tuple(PAPERS)
# Scenarios whose articles have one address each, and prose of their own.
_TROUBLED = frozenset({
    "syndicated", "one_letter", "next_day", "outside_window", "regional_edition", "edited", "developing", "same_event",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Article:
    """One print of a story: one stored article, if the crawl works.

    `paragraphs` are the body as printed. `path` is its address, with a query if only that distinguishes it from another
    print. `copies` are further addresses of the same page; `redirects` are steps, each from one address to the next.
    `listed` holds the addresses that feeds, sitemaps and section pages link to. `trouble` is how it is served.
    """

    paper: str
    date: datetime.date
    section: str
    language: str
    headline: str
    byline: str
    paragraphs: tuple[str, ...]
    path: str
    copies: tuple[str, ...] = ()
    redirects: tuple[tuple[str, str], ...] = ()
    listed: tuple[str, ...] = ()
    trouble: Trouble = ""

    @property
    def id(self) -> str:
        return self.paper + self.path

    @property
    def text(self) -> str:
        return "\n\n".join(self.paragraphs)

    @property
    def part_paths(self) -> tuple[str, ...]:
        """The paths of the article's pages, if it has several."""
        if self.trouble != "paged":
            return ()
        return (self.path, *(f"{self.path}?page={number}" for number in range(2, PARTS + 1)))

    @property
    def declared_headline(self) -> str:
        """The headline as the page declares it; some newspapers add their suffix."""
        paper = PAPERS[self.paper]
        return self.headline + (paper.suffix if paper.metadata in {"opengraph", "meta"} else "")

    @property
    def stored_headline(self) -> str:
        """The same without a suffix that the page gives away by declaring the name of its site."""
        return self.headline if PAPERS[self.paper].metadata == "opengraph" else self.declared_headline


@dataclass(frozen=True, slots=True)
class Group:
    """Articles whose pairs all have the same truth; a group of one has no pair."""

    scenario: str
    truth: Truth
    articles: tuple[Article, ...]


@cache
def groups() -> tuple[Group, ...]:
    """Return all that the five newspapers print, in the order of scenarios."""
    stories, found = load_stories(), []
    planned = [*_of_plain_stories(stories), *_of_special_stories(stories)]
    able = (article for group in planned if group.scenario in _TROUBLED for article in group.articles)
    troubles = troubles_of(able)
    for group in planned:
        served = ((article, troubles.get((article.paper, article.path), "")) for article in group.articles)
        found.append(replace(group, articles=tuple(replace(article, trouble=trouble) for article, trouble in served)))
    return tuple(found)


def articles() -> tuple[Article, ...]:
    """Return every article of every newspaper."""
    return tuple(article for group in groups() for article in group.articles)


def _print(story: Story, paper: str, day: int, *, again: int = 0) -> Article:
    """Return the story as this paper prints it; `day` counts from 0, `again` is 1 for a second print, 2 for a third."""
    date = FIRST_DAY + datetime.timedelta(days=day)
    path = PAPERS[paper].path(f"{story.key}-{again + 1}" if again else story.key, story.section, story.language, date)
    byline = _byline(story.byline, story.agency)
    return Article(
        paper, date, story.section, story.language, story.headline, byline, story.paragraphs, path, listed=(path,)
    )


def _byline(reporter: str, agency: str) -> str:
    return ", ".join(filter(None, (reporter, agency)))


def _paper(place: int, *, of: tuple[str, ...] = _KEYS) -> str:
    return of[place % len(of)]


def _day(story: Story, span: int = 0) -> int:
    """Return the day of a story's first print, derived from its key; `span` days later is still in the three weeks."""
    return zlib.crc32(story.key.encode()) % (_DAYS - span)


# -- Scenarios that take one plain story each; `place` counts them within the scenario ----------------------


def _syndicated(place: int, story: Story) -> Group:
    """Wire copy in two to five newspapers, each with its own headline, byline and way to name the agency."""
    agency = story.agency or "Meridian Wire"
    plain = edits.without_dateline(story.paragraphs)
    prints = []
    for turn in range(2 + place % 4):
        paper = _paper(place + turn)
        copy = _print(story, paper, _day(story, 1) + (turn == 3))
        # The Gazette and the Post begin agency copy with their own dateline; the others print none.
        body = edits.with_dateline(plain, PAPERS[paper].place, agency) if paper in {"gazette", "dunmere"} else plain
        headline = (
            story.headline,
            edits.lead_headline(plain),
            edits.headline_case(story.headline),
            f"{PAPERS[paper].place}: {story.headline}",
        )[turn % 4]
        byline = (_byline(story.byline, agency), agency, f"From {agency}")[turn % 3]
        prints.append(replace(copy, headline=headline, byline=byline, paragraphs=body))
    return Group("syndicated", "duplicate", tuple(prints))


def _cropped(place: int, story: Story) -> Group:
    """Another newspaper prints the first two paragraphs, or all but the last one."""
    whole = _print(story, _paper(place), _day(story))
    part = _print(story, _paper(place + 2), _day(story))
    body = story.paragraphs[: 2 if place % 2 else -1]
    return Group("cropped", "duplicate", (whole, replace(part, paragraphs=body)))


def _one_letter(place: int, story: Story) -> Group:
    """A misspelling is corrected and the article printed again, on the same day or the next."""
    paper, day = _paper(place + 1), _day(story, 1)
    first = replace(_print(story, paper, day), paragraphs=edits.misspelt(story.paragraphs))
    return Group("one_letter", "duplicate", (first, _print(story, paper, day + place % 2, again=1)))


def _next_day(place: int, story: Story) -> Group:
    """The same text on the next day, and again three days after the first."""
    paper, day = _paper(place + 2), _day(story, 3)
    prints = [_print(story, paper, day + later, again=again) for again, later in enumerate((0, 1, 3))]
    return Group("next_day", "duplicate", tuple(prints))


def _outside_window(place: int, story: Story) -> Group:
    """Printed again after five days; every other time with a letter changed, so that no pass has to find the pair."""
    paper, day = _paper(place + 3), _day(story, 5)
    first, again = _print(story, paper, day), _print(story, paper, day + 5, again=1)
    if place % 2:
        again = replace(again, paragraphs=edits.misspelt(story.paragraphs))
    return Group("outside_window", "duplicate", (first, again))


def _regional_edition(place: int, story: Story) -> Group:
    """The Courier's article in its sister paper, the Echo, with another town or another last sentence."""
    courier, echo = _print(story, "courier", _day(story)), _print(story, "echo", _day(story))
    headline, body = edits.for_carrack(story.headline, story.paragraphs)
    if place % 2 or body == story.paragraphs:
        headline, body = story.headline, edits.with_local_ending(story.paragraphs, place)
    return Group("regional_edition", "duplicate", (courier, replace(echo, headline=headline, paragraphs=body)))


def _many_urls(place: int, story: Story) -> Group:
    """One story under a dozen addresses: one article if its pages name a canonical URL, otherwise several."""
    canonical = place % 2 == 0
    papers = tuple(key for key in _KEYS if PAPERS[key].canonical == canonical)
    article = _print(story, _paper(place // 2, of=papers), _day(story))
    short = PAPERS[article.paper].short_paths(article.path, article.date)
    path, newsletter = article.path, f"{article.path}?utm_source=newsletter&utm_medium=email"
    amp = path.removesuffix(".html") + ".amp.html" if path.endswith(".html") else path.rstrip("/") + "/amp"
    others = (f"{path}?ref=frontpage", amp, f"/print{path}")
    # Parameters that only track are no reason to fetch the page again; what else is added may name another page.
    tracked = (newsletter, f"{path}?fbclid=Qm9hdA41")
    redirects = ((short[0], path), (short[1], short[2]), (short[2], newsletter))
    listed: tuple[str, ...] = (path, f"{path}#comments")
    if canonical:
        copies = (*tracked, *others, f"/m{path}", f"{path}?utm_campaign=evening&utm_source=app")
        listed = (*listed, *copies, short[0], short[1])
        return Group("many_urls", "duplicate", (replace(article, copies=copies, redirects=redirects, listed=listed),))
    redirects = (*redirects[:2], (short[2], path))
    listed = (*listed, f"{path}#share", short[0], short[1], *tracked, f"{newsletter}#top")
    base = replace(article, copies=tracked, redirects=redirects, listed=listed)
    return Group("many_urls", "duplicate", (base, *(replace(article, path=copy, listed=(copy,)) for copy in others)))


def _title_affix(place: int, story: Story) -> Group:
    """One headline twice on one day, once with the newspaper's name before or after it; every other text is cut."""
    paper = PAPERS[_paper(place)]
    exclusive, domain = paper.title_affixes
    headline = (
        f"{exclusive}: {story.headline}",
        f"{story.headline} - {paper.name}",
        f"{story.headline} | {domain}",
        f"{paper.name}: {story.headline}",
    )[place % 4]
    first, again = _print(story, paper.key, _day(story)), _print(story, paper.key, _day(story), again=1)
    body = story.paragraphs[: -1 if place % 2 else None]
    return Group("title_affix", "duplicate", (first, replace(again, headline=headline, paragraphs=body)))


def _title_case(place: int, story: Story) -> Group:
    """Headlines of one day that differ in case and punctuation; the lead is the same, the other paragraphs differ."""
    paper, day = _paper(place + 1), _day(story)
    lead, *rest = story.paragraphs
    half = len(rest) // 2
    headline = edits.headline_case(story.headline) + " …" if place % 2 else story.headline.upper() + "!"
    first = replace(_print(story, paper, day), paragraphs=(lead, *rest[:half]))
    again = replace(_print(story, paper, day, again=1), headline=headline, paragraphs=(lead, *rest[half:]))
    return Group("title_case", "version", (first, again))


def _edited(place: int, story: Story) -> Group:
    """Words deleted, and a paragraph deleted or added, by the same newspaper (a version) or by another."""
    first, other = _paper(place), _paper(place + 2 * (place % 2))
    body = edits.shortened(story.paragraphs) if place // 2 % 2 else edits.amended(story.paragraphs, place)
    again = _print(story, other, _day(story, 1) + place % 3 // 2, again=int(first == other))
    truth: Truth = "version" if first == other else "duplicate"
    return Group("edited", truth, (_print(story, first, _day(story, 1)), replace(again, paragraphs=body)))


def _brief(place: int, story: Story) -> Group:
    """A sentence or two in two newspapers; every other time the second one adds a line."""
    body = edits.in_brief(story.paragraphs)
    first, second = _paper(place), _paper(place + 3)
    own_line = f"The {PAPERS[second].name.removeprefix('The ')} will report."
    other = (f"{body[0]} {own_line}",) if place % 2 else body
    one = replace(_print(story, first, _day(story)), paragraphs=body)
    return Group("brief", "duplicate", (one, replace(_print(story, second, _day(story)), paragraphs=other)))


# How many plain stories each scenario takes, in the order in which they receive them.
_SCENARIOS: tuple[tuple[int, Callable[[int, Story], Group]], ...] = (
    (9, _syndicated),
    (6, _cropped),
    (6, _one_letter),
    (5, _next_day),
    (5, _outside_window),
    (8, _regional_edition),
    (6, _many_urls),
    (5, _title_affix),
    (5, _title_case),
    (8, _edited),
    (6, _brief),
)
# Groups of unrelated articles of one newspaper, the articles of each, and the teasers between their paragraphs.
_RELATED_GROUPS, _RELATED_ARTICLES, _TEASERS = 2, 3, 2


def _of_plain_stories(stories: Stories) -> Iterator[Group]:
    """Yield a group for each plain story; a story that no scenario takes is printed once."""
    dealt = iter(_dealt(stories.plain))
    for number, make in _SCENARIOS:
        yield from (make(place, next(dealt)) for place in range(number))
    for place in range(_RELATED_GROUPS):
        yield _related_box(place, [next(dealt) for _ in range(_RELATED_ARTICLES)], stories.teasers)
    for place, story in enumerate(dealt):
        yield Group("single", "unrelated", (_print(story, _paper(place), _day(story)),))


def _dealt(stories: Iterable[Story]) -> list[Story]:
    """Return agency copy first, then one story of each section in turn."""
    agency = [story for story in stories if story.agency]
    own = [story for story in stories if not story.agency]
    names = sorted({story.section for story in own})
    sections = [[story for story in own if story.section == section] for section in names]
    return agency + [story for turn in zip_longest(*sections) for story in turn if story]


def _related_box(place: int, stories: list[Story], teasers: tuple[str, ...]) -> Group:
    """Articles that have nothing in common but the teasers between their paragraphs."""
    own = teasers[place * _TEASERS :][:_TEASERS]
    first = _day(stories[0], 3)
    prints = [_print(story, _paper(place * 3), first + turn) for turn, story in enumerate(stories)]
    woven = [replace(article, paragraphs=edits.with_teasers(article.paragraphs, own)) for article in prints]
    return Group("related_box", "unrelated", tuple(woven))


# -- Scenarios of stories that were written for them -------------------------------------------------------


def _of_special_stories(stories: Stories) -> Iterator[Group]:
    for place, rubric in enumerate(stories.live.values()):
        paper, day = _paper(place * 2), _day(rubric[0])
        yield Group("live", "unrelated", tuple(_print(story, paper, day) for story in rubric))
    for place, issues in enumerate(stories.templates.values()):
        # Daily from a Monday on; or weekly, the last issues, one each Saturday.
        days = _SATURDAYS if issues[0].key.startswith("weekly") else range(_DAYS)[7 * (place % 3) :]
        column = zip(issues[-len(days) :], days, strict=False)
        yield Group("template", "template", tuple(_print(story, _paper(place + 1), day) for story, day in column))
    for place, versions in enumerate(stories.developing.values()):
        paper, first = _paper(place + 2), _day(versions[0], 1)
        prints = (_print(story, paper, day) for story, day in zip(versions, (first, first, first + 1), strict=True))
        yield Group("developing", "version", tuple(prints))
    for place, reports in enumerate(stories.events.values()):
        day = _day(reports[0], 1)
        prints = (_print(story, _paper(place + 2 * turn), day + turn % 2) for turn, story in enumerate(reports))
        yield Group("same_event", "same_event", tuple(prints))
    for place, texts in enumerate(stories.foreign.values()):
        yield from _in_language(place, texts)


def _in_language(place: int, texts: tuple[Story, ...]) -> Iterator[Group]:
    """Yield the stories of a language, all in the Meridian Daily; the first one is misspelt and printed twice.

    Its second print is in the same newspaper a day later, or in the Gazette on the same day.
    """
    for turn, story in enumerate(texts):
        day = _day(story, 1)
        article = _print(story, "meridian", day)
        if turn:
            yield Group("other_language", "duplicate", (article,))
            continue
        again = _print(story, *(("gazette", day) if place % 2 else ("meridian", day + 1)), again=1 - place % 2)
        misspelt = replace(article, paragraphs=edits.misspelt(story.paragraphs))
        yield Group("other_language", "duplicate", (misspelt, again))
