"""Stories made of invented sentences: what a source writes, what newspapers add, and what editors do to texts."""

from __future__ import annotations

import random
from dataclasses import dataclass
from types import ModuleType
from typing import NamedTuple

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
MONTHS = ("January", "March", "April", "June", "September", "October")
TOWNS = ("Little Barrow", "Fenwick", "Upper Soke", "Holmsea", "Brant", "Kirkdale", "Nethercote", "Marsh End")


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


def with_cuts(sentences: list[str], chance: random.Random) -> list[str]:
    """Return a text without one or two sentences from its middle."""
    text = list(sentences)
    for _ in range(chance.choice([1, 1, 2])):
        if len(text) > 4:
            del text[chance.randrange(2, len(text) - 1)]
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
