"""Clusters of invented newspapers whose true lineage is known: a seed gives the same clusters again.

Stories are made of invented sentences: what a source writes, what newspapers add, and what editors do to texts.
Truth has two parts: the kind of reuse, and for each article the article of the cluster that it was taken from, if any.
True times are those at which the articles ran; what the pages say may be a day only, lack the time zone, or come from a
wrong clock.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import NamedTuple

from articles.normalization.times import Precision, PublicationTime
from dedup.detection.comparison.prepared import ArticleText, Preparer
from dedup.detection.lineage.articles import Kind, LineageArticle, Text

NAMES = (
    "Harbour Post", "Coast Telegraph", "Inland Gazette", "Valley Courier", "Northern Echo Daily", "The Bridge Journal",
    "Sundial Weekly", "Morning Lantern", "Riverside Herald", "Old Town Chronicle", "Daily Anchor", "Evening Beacon",
)  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
MONTHS = ("January", "March", "April", "June", "September", "October")
TOWNS = ("Little Barrow", "Fenwick", "Upper Soke", "Holmsea", "Brant", "Kirkdale", "Nethercote", "Marsh End")
AGENCIES = ("Reuters", "AFP", "dpa", "AP")
ZONE = 120  # minutes; all of the newspapers' clocks
START = datetime.datetime(2026, 3, 2, 5, 0)  # noqa: DTZ001 - true time, in UTC


class Paper(NamedTuple):
    """A newspaper, its owner, and what its pages say of the time: exact, zoneless, day or wrong (hours)."""

    number: int
    name: str
    owner: str
    clock: str
    wrong_by: float


@dataclass
class Ran:
    """An article that ran at a true time, with its sentences, and what it credits."""

    paper: Paper
    at: datetime.datetime
    sentences: list[str]
    parent: int | None = None  # the place of the article it was taken from
    agency: str = ""
    byline: str = ""


@dataclass(frozen=True)
class Scenario:
    """A cluster as newsdedup would see it, and the truth: its kind, parents and true times by article number."""

    articles: list[LineageArticle]
    texts: dict[str, Text]
    kind: Kind
    parents: dict[int, int]
    ran_at: dict[int, datetime.datetime] = field(default_factory=dict)

    def ancestors(self, number: int) -> Iterator[int]:
        """Yield the articles that this one was taken from, directly or not."""
        while number in self.parents:
            number = self.parents[number]
            yield number


def scenario(material: ModuleType, seed: int) -> Scenario:
    """Return the cluster of a seed."""
    chance = random.Random(seed)
    clocks = ["exact"] * 5 + ["zoneless"] * 2 + ["day"] * 3 + ["wrong"] + ["exact"]
    chance.shuffle(clocks)
    papers = [
        Paper(number, name, "Tide Media" if number in (1, 2) else "", clock, chance.choice([-5.0, -3.0, 3.0, 6.0]))
        for number, (name, clock) in enumerate(zip(NAMES, clocks, strict=True), start=1)
    ]
    chance.shuffle(papers)
    make = chance.choice(_MAKERS)
    kind, ran = make(make_story(material, chance), papers, chance)
    return _seen(kind, ran)


def _wire(story: Story, papers: list[Paper], chance: random.Random) -> tuple[Kind, list[Ran]]:
    """Return newspapers that run an agency's report; sometimes one takes over what another made of it."""
    agency = chance.choice(AGENCIES)
    ran = []
    for paper in papers[: chance.randrange(2, 7)]:
        sentences = _edited(story, story.core, chance)
        credited = chance.random() < 0.6
        if credited and chance.random() < 0.7:
            sentences = [f"PORT ({agency}) - {sentences[0]}", *sentences[1:]]
        after = datetime.timedelta(minutes=chance.randrange(1, 20 * 60))
        ran.append(Ran(paper, START + after, sentences, agency=agency if credited else ""))
    ran.sort(key=lambda article: article.at)
    if chance.random() < 0.35:
        ran[0].sentences = with_local(ran[0].sentences, story.local, chance, number=2)
        ran.append(_taken(story, ran, 0, papers[8], chance))
    return Kind.WIRE, ran


def _agency_itself(story: Story, papers: list[Paper], chance: random.Random) -> tuple[Kind, list[Ran]]:
    """Return an agency's own report, which is stored too, and the newspapers that run it."""
    agency = chance.choice(AGENCIES)
    ran = [Ran(papers[9]._replace(name=agency, owner="", clock="exact"), START, list(story.core), agency=agency)]
    for paper in papers[: chance.randrange(2, 6)]:
        after = datetime.timedelta(minutes=chance.randrange(5, 15 * 60))
        credited = agency if chance.random() < 0.6 else ""
        ran.append(Ran(paper, START + after, _edited(story, story.core, chance), parent=0, agency=credited))
    return Kind.WIRE, ran


def _release(story: Story, papers: list[Paper], chance: random.Random) -> tuple[Kind, list[Ran]]:
    """Return newspapers that run a press release, more or less whole."""
    ran = []
    for paper in papers[: chance.randrange(2, 6)]:
        sentences = _edited(story, story.core, chance)
        byline = ""
        if chance.random() < 0.4:
            sentences += story.contact
        elif chance.random() < 0.25:
            byline = "Press release"
        elif chance.random() < 0.2:
            sentences = ["PRESS RELEASE", *sentences]
        after = datetime.timedelta(minutes=chance.randrange(1, 72 * 60))
        ran.append(Ran(paper, START + after, sentences, byline=byline))
    return Kind.RELEASE, ran


def _newspapers(story: Story, papers: list[Paper], chance: random.Random) -> tuple[Kind, list[Ran]]:
    """Return a newspaper's own report and those that take it over, from it or from each other."""
    own = [*story.core[:3], story.takes.pop(), *story.core[3:]]
    ran = [Ran(papers[0], START, own)]
    for paper in papers[1 : chance.choice([2, 2, 3, 4])]:
        parent = 0 if chance.random() < 0.75 else len(ran) - 1
        ran.append(_taken(story, ran, parent, paper, chance))
    return Kind.NEWSPAPER, ran


def _taken(story: Story, ran: list[Ran], parent: int, paper: Paper, chance: random.Random) -> Ran:
    """Return an article that takes over another one, with or without its name."""
    source = ran[parent]
    sentences = _edited(story, source.sentences, chance)
    if chance.random() < 0.35:
        credit = chance.choice(["{} reported this first.", "Source: {}", "A witness told the {} so."])
        sentences.append(credit.format(source.paper.name))
    return Ran(paper, source.at + datetime.timedelta(hours=chance.uniform(0.4, 40)), sentences, parent=parent)


def _common(story: Story, papers: list[Paper], chance: random.Random) -> tuple[Kind, list[Ran]]:
    """Return newspapers that each write an article of their own around what one speaker or document said."""
    core = list(story.core)
    ran = []
    for paper in papers[: chance.choice([2, 2, 3, 4])]:
        kept = [sentence for sentence in core if chance.random() < chance.uniform(0.5, 0.9)] or core[:4]
        if chance.random() < 0.4:
            at = chance.randrange(len(kept))
            kept = kept[at:] + kept[:at]
        own = [story.takes.pop()] if story.takes else []
        text = with_local([*own, *kept], story.local, chance, number=chance.choice([1, 2]))
        after = datetime.timedelta(minutes=chance.randrange(1, 30 * 60))
        ran.append(Ran(paper, START + after, text))
    return Kind.COMMON, ran


_MAKERS = (_wire, _wire, _agency_itself, _release, _newspapers, _newspapers, _common)


def _edited(story: Story, sentences: list[str], chance: random.Random) -> list[str]:
    """Return a text as a desk may run it: whole, cropped, cut, retouched, with sentences of its own."""
    text = list(sentences)
    if chance.random() < 0.4:
        text = cropped(text, chance)
    if chance.random() < 0.2:
        # Without one or two sentences from the middle.
        for _ in range(chance.choice([1, 1, 2])):
            if len(text) > 4:
                del text[chance.randrange(2, len(text) - 1)]
    if chance.random() < 0.4:
        text = retouched(text, chance)
    if chance.random() < 0.3 and len(story.local) > 2:
        text = with_local(text, story.local, chance, number=chance.choice([1, 2]))
    return text


def _seen(kind: Kind, ran: list[Ran]) -> Scenario:
    """Return the cluster as it is stored: with numbers that say nothing, and with the times that the pages give."""
    numbers = [1 + (7 * place + 3) % 101 for place in range(len(ran))]
    articles, texts, preparer = [], {}, Preparer()
    for number, text in zip(numbers, ran, strict=True):
        content = "\n\n".join(text.sentences)
        day, time = _clock(text)
        texts.setdefault(content, Text(content, preparer.prepare(ArticleText(text.paper.number, day, "", content))))
        articles.append(
            LineageArticle(
                number=number,
                newspaper=text.paper.number,
                name=text.paper.name,
                owner=text.paper.owner,
                date=day,
                time=time,
                agency=text.agency,
                byline=text.byline,
                text_key=content,
            )
        )
    parents = {
        number: numbers[text.parent] for number, text in zip(numbers, ran, strict=True) if text.parent is not None
    }
    return Scenario(
        articles, texts, kind, parents, {number: text.at for number, text in zip(numbers, ran, strict=True)}
    )


def _clock(ran: Ran) -> tuple[datetime.date, PublicationTime | None]:
    """Return the day and the time that the page gives."""
    local = ran.at + datetime.timedelta(minutes=ZONE)
    if ran.paper.clock == "wrong":
        local += datetime.timedelta(hours=ran.paper.wrong_by)
    if ran.paper.clock == "day":
        return local.date(), None
    offset = None if ran.paper.clock == "zoneless" else ZONE
    return local.date(), PublicationTime.of(local, offset, Precision.MINUTE)


# ---- stories ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Topic:
    """A story: the sentences of its source, what newspapers write of their own, and whom a press office names."""

    headline: str
    core: tuple[str, ...]
    takes: tuple[str, ...]
    contact: tuple[str, ...] = (
        "For further information, please contact the press desk: desk@office.example, 0207 946 0100.",
    )


class Story(NamedTuple):
    """A topic with names and numbers. `local` are sentences that any newspaper may add."""

    headline: str
    core: list[str]
    takes: list[str]
    contact: list[str]
    local: list[str]


def make_story(material: ModuleType, chance: random.Random) -> Story:
    """Return a story of this material; each seed gives other names and numbers."""
    topic: Topic = chance.choice(material.TOPICS)
    persons = chance.sample(material.PERSONS, 4)
    places = chance.sample(material.PLACES, 2)
    organisation = chance.choice(material.ORGANISATIONS)
    values: dict[str, str] = {
        **dict(zip(("person", "person2", "person3"), persons, strict=False)),
        **dict(zip(("place", "place2"), places, strict=True)),
        "org": organisation,
        "slug": organisation.split()[0].casefold(),
        "thing": chance.choice(material.THINGS),
        "day": chance.choice(DAYS),
        "month": chance.choice(MONTHS),
        "money": f"{chance.randrange(3, 90)} million",
        "n": f"{chance.randrange(1, 9)},{chance.randrange(100, 999)}",
        "n2": str(chance.randrange(110, 990)),
        "n3": str(chance.randrange(12, 58)),
        "n4": str(chance.randrange(3, 11)),
    }
    local = []
    for sentence in material.LOCAL:
        values |= {"town": chance.choice(TOWNS), "person3": chance.choice(material.PERSONS)}
        local.append(sentence.format_map(values))
    chance.shuffle(local)
    takes = [sentence.format_map(values) for sentence in topic.takes]
    chance.shuffle(takes)
    return Story(
        topic.headline.format_map(values),
        [sentence.format_map(values) for sentence in topic.core],
        takes,
        [sentence.format_map(values) for sentence in topic.contact],
        local,
    )


def cropped(sentences: list[str], chance: random.Random) -> list[str]:
    """Return the beginning of a text: a half of its sentences or more."""
    return sentences[: max(3, round(len(sentences) * chance.uniform(0.45, 0.9)))]


def with_local(sentences: list[str], local: list[str], chance: random.Random, *, number: int) -> list[str]:
    """Return a text with so many sentences of the newspaper itself, before, between or after the others."""
    text = list(sentences)
    for _ in range(min(number, len(local))):
        place = chance.choice([1, len(text) // 2, len(text), len(text)])
        text.insert(place, local.pop())
    return text


def retouched(sentences: list[str], chance: random.Random) -> list[str]:
    """Return a text in which an editor changed a word here and there, or corrected a slip."""
    text = list(sentences)
    for place in chance.sample(range(len(text)), k=min(len(text), chance.choice([1, 2, 3]))):
        words = text[place].split()
        at = chance.randrange(len(words))
        if words[at].isalpha() and len(words[at]) > 4:
            words[at] = words[at][:-2] + words[at][-1] if chance.random() < 0.5 else f"also {words[at]}"
        text[place] = " ".join(words)
    return text
