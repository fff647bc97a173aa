"""The prose: reads stories/*.toml into the stories that the scenarios use."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("stories")
_KINDS = ("plain", "language", "event", "rubric", "version", "template")
_KEY = re.compile("[a-z0-9]+(?:-[a-z0-9]+)*")


class StoryError(ValueError):
    """A story that cannot be used. The message names the file, the story and the remedy."""


@dataclass(frozen=True, slots=True)
class Story:
    """A text as a reporter wrote it. `key` is unique and can be part of a URL."""

    key: str
    section: str
    language: str
    headline: str
    byline: str
    agency: str
    paragraphs: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n\n".join(self.paragraphs)


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
    """Return the stories of the folder. Raises StoryError."""
    kinds: dict[str, dict[str, list[Story]]] = {kind: {} for kind in _KINDS}
    teasers: list[str] = []
    for file in sorted(FOLDER.glob("*.toml")):
        document = tomllib.loads(file.read_text(encoding="utf-8"))
        teasers += (f"{related['text'].rstrip('.')}." for related in document.get("related", ()))
        for kind, group, stories in _read(file, document):
            kinds[kind].setdefault(group, []).extend(stories)
    _check_keys(story.key for groups in kinds.values() for stories in groups.values() for story in stories)
    return Stories(
        plain=_ordered(kinds["plain"].get("", ())),
        foreign=_grouped(kinds["language"]),
        events=_grouped(kinds["event"]),
        live=_grouped(kinds["rubric"]),
        developing=_grouped(kinds["version"]),
        templates=_grouped(kinds["template"]),
        teasers=tuple(sorted(teasers)),
    )


def _read(file: Path, document: dict[str, Any]) -> Iterator[tuple[str, str, list[Story]]]:
    """Yield each table's kind, its group within that kind, and its stories."""
    for table in document.get("template", ()):
        yield "template", table["key"], list(_issues(file, table))
    for table in document.get("story", ()):
        if "version" in table:
            yield "version", table["key"], list(_versions(file, table))
        else:
            story = _story(file, table)
            grouped = {name: table.get(name, "") for name in ("event", "rubric")}
            grouped["language"] = story.language if story.language != "en" else ""
            yield next(((kind, group, [story]) for kind, group in grouped.items() if group), ("plain", "", [story]))


def _story(file: Path, table: dict[str, Any], **changes: Any) -> Story:
    values = table | changes
    try:
        story = Story(
            key=values["key"],
            section=values["section"],
            language=values.get("language", "en"),
            headline=values["headline"],
            byline=values.get("byline", ""),
            agency=values.get("agency", ""),
            paragraphs=tuple(values["paragraphs"]),
        )
    except KeyError as error:
        raise StoryError(f"{file.name}: story {values.get('key', '?')} has no {error.args[0]}; add it") from error
    if not _KEY.fullmatch(story.key):
        raise StoryError(f"{file.name}: key {story.key!r} may have only lower-case letters, digits and single hyphens")
    return story


def _versions(file: Path, table: dict[str, Any]) -> Iterator[Story]:
    """Yield the versions of a story, which share its key, section and byline."""
    for number, version in enumerate(table["version"], start=1):
        yield _story(file, table | version, key=f"{table['key']}-{number}")


def _issues(file: Path, table: dict[str, Any]) -> Iterator[Story]:
    """Yield a story for each issue of a template, with its placeholders filled."""
    for number, values in enumerate(table["issue"], start=1):
        try:
            headline = table["headline"].format_map(values)
            paragraphs = [paragraph.format_map(values) for paragraph in table["paragraphs"]]
        except KeyError as error:
            raise StoryError(f"{file.name}: issue {number} of {table['key']} has no {error.args[0]}; add it") from error
        yield _story(file, table, key=f"{table['key']}-{number}", headline=headline, paragraphs=paragraphs)


def _ordered(stories: Iterable[Story]) -> tuple[Story, ...]:
    return tuple(sorted(stories, key=lambda story: story.key))


def _grouped(groups: dict[str, list[Story]]) -> dict[str, tuple[Story, ...]]:
    return {key: _ordered(stories) for key, stories in sorted(groups.items())}


def _check_keys(keys: Iterable[str]) -> None:
    twice = sorted(key for key, number in Counter(keys).items() if number > 1)
    if twice:
        raise StoryError(f"stories share the keys {', '.join(twice)}; give each its own key")
