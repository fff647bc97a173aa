"""The prose: reads stories/*.toml into the stories that the scenarios use."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from articles.loading import read_table

FOLDER = Path(__file__).with_name("stories")


@dataclass(frozen=True, slots=True)
class Story:
    """A text as a reporter wrote it. `key` is unique and can be part of a URL."""

    key: str
    section: str
    headline: str
    paragraphs: tuple[str, ...]
    language: str = "en"
    byline: str = ""
    agency: str = ""


@dataclass(frozen=True, slots=True)
class Stories:
    """All stories by their use, each kind in the order of keys.

    `events`: one event by several reporters. `live`: different stories under one rubric. `developing`: the versions of
    a story, the earliest first. `templates`: the issues of a column.
    """

    plain: tuple[Story, ...]
    foreign: dict[str, tuple[Story, ...]]  # by language
    events: dict[str, tuple[Story, ...]]
    live: dict[str, tuple[Story, ...]]
    developing: dict[str, tuple[Story, ...]]
    templates: dict[str, tuple[Story, ...]]
    teasers: tuple[str, ...]


@cache
def load_stories() -> Stories:
    kinds: defaultdict[str, defaultdict[str, list[Story]]] = defaultdict(lambda: defaultdict(list))
    teasers: list[str] = []
    for file in sorted(FOLDER.glob("*.toml")):
        document = read_table(file)
        teasers += (f"{related['text'].rstrip('.')}." for related in document.get("related", ()))
        for kind, group, story in _read(document):
            kinds[kind][group].append(story)
    [plain] = kinds.pop("plain").values()
    groups: dict[str, Any] = {
        kind: {group: _ordered(stories) for group, stories in sorted(found.items())} for kind, found in kinds.items()
    }
    return Stories(plain=_ordered(plain), teasers=tuple(sorted(teasers)), **groups)


def _read(document: dict[str, Any]) -> Iterator[tuple[str, str, Story]]:
    """Yield each story with its kind, and its group within that kind."""
    for table in document.get("template", ()):
        for number, values in enumerate(table["issue"], start=1):
            headline, *paragraphs = (text.format_map(values) for text in (table["headline"], *table["paragraphs"]))
            yield "templates", table["key"], _story(table | {"headline": headline, "paragraphs": paragraphs}, number)
    for table in document.get("story", ()):
        for number, version in enumerate(table.get("version", ()), start=1):
            yield "developing", table["key"], _story(table | version, number)
        if "version" not in table:
            language = table.get("language", "en")
            groups = {"events": table.get("event"), "live": table.get("rubric")}
            groups["foreign"] = language if language != "en" else None
            kind, group = next(((kind, group) for kind, group in groups.items() if group), ("plain", ""))
            yield kind, group, _story(table)


def _story(table: dict[str, Any], number: int = 0) -> Story:
    """Return the story of a table, or the version or issue of it with this number."""
    values = {name: table[name] for name in Story.__slots__ if name in table}
    key = f"{table['key']}-{number}" if number else table["key"]
    return Story(**values | {"key": key, "paragraphs": tuple(table["paragraphs"])})


def _ordered(stories: list[Story]) -> tuple[Story, ...]:
    return tuple(sorted(stories, key=lambda story: story.key))
