"""What an editor can answer about a pair: the one table that pages, keys, models, API, exports and checks read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Self


class Effect(StrEnum):
    """What an answer does to clusters: the effects of the view dedup_standing_link, and one that a profile sets."""

    MUST = "must"
    CANNOT = "cannot"
    BY_PROFILE = "by profile"  # versions: the default profile says whether they join
    NONE = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What one answer says, looks like and does.

    `place`: among the buttons. `letter`: its key, unless a user chooses another. `teaches`: the label of the pair for a
    model, a letter of dedup.detection.verdicts.model.LABELS; a model learns nothing from an answer without one.
    `in_batches`: whether one decision may give it to many pairs. A link and a state without a name of their own are
    called like the answer.
    """

    place: int
    button: str
    letter: str
    colour: Literal["good", "bad", "warn", "accent"]
    word: str  # what the pair is
    when: str  # to give it, for the table in docs/editors.md
    did: str  # what the editor did, in the history
    stored: str  # the sentence after the answer
    state_label: str
    link_label: str
    effect: Effect
    teaches: str = ""
    in_batches: bool = False
    state: str = ""
    link: str = ""


class Answer(StrEnum):
    """What an editor can answer about a pair; the values are the kinds of decisions on one pair and of readings.

    A state of pairs and a kind of links belong to each. The view dedup_standing_link derives the state of any other
    link than must and cannot from its name; an answer with an effect on clusters needs a line there, by a migration.
    """

    facts: Facts

    def __new__(cls, key: str, *facts: Facts) -> Self:
        """Return the answer with its facts."""
        answer = str.__new__(cls, key)
        answer._value_ = key
        (answer.facts,) = facts
        return answer

    CONFIRM = (
        "confirm",
        Facts(
            place=1,
            button="Duplicate",
            letter="y",
            colour="good",
            word="duplicate",
            when="a reader would call them the same article: copied, cropped, lightly edited, or under another "
            "headline",
            did="confirmed the pair",
            stored="Confirmed: duplicates.",
            state="confirmed",
            state_label="confirmed duplicate",
            link="must",
            link_label="must be in one cluster",
            effect=Effect.MUST,
            teaches="D",
            in_batches=True,
        ),
    )
    REJECT = (
        "reject",
        Facts(
            place=4,
            button="Not a duplicate",
            letter="n",
            colour="bad",
            word="not a duplicate",
            when="anything else, such as two papers' own reports on one event",
            did="rejected the pair",
            stored="Rejected: not duplicates.",
            state="rejected",
            state_label="not a duplicate",
            link="cannot",
            link_label="cannot be in one cluster",
            effect=Effect.CANNOT,
            teaches="N",
            in_batches=True,
        ),
    )
    VERSION = (
        "version",
        Facts(
            place=2,
            button="Version",
            letter="v",
            colour="accent",
            word="version",
            when="the same article at another stage, with news of its own",
            did="called the pair versions",
            stored="Answered: versions of one article.",
            state_label="another version",
            link_label="is another version of the same article",
            effect=Effect.BY_PROFILE,
            teaches="V",
        ),
    )
    TEMPLATE = (
        "template",
        Facts(
            place=3,
            button="Template",
            letter="t",
            colour="warn",
            word="template",
            when="the same form with other facts, such as the exchange rates of two days",
            did="called the pair templates",
            stored="Answered: templates, the same form with other facts.",
            state_label="a template",
            link_label="has the same form and other facts; cannot be in one cluster",
            effect=Effect.CANNOT,
            teaches="T",
            in_batches=True,
        ),
    )
    UNSURE = (
        "unsure",
        Facts(
            place=5,
            button="Unsure",
            letter="u",
            colour="warn",
            word="unsure",
            when="nobody can say from these texts; add a note (`m`)",
            did="was unsure of the pair",
            stored="Left open: unsure.",
            state_label="unsure",
            link_label="left open",
            effect=Effect.NONE,
        ),
    )

    @property
    def label(self) -> str:
        """What it says of the pair, in a word."""
        return self.facts.word

    @property
    def state(self) -> str:
        """The state of a pair with this answer."""
        return self.facts.state or self.value

    @property
    def link(self) -> str:
        """The kind of the link that says it."""
        return self.facts.link or self.value

    @property
    def look(self) -> str:
        """The end of the class of its button, decide-…: filled are the two answers to the question itself."""
        return {"good": "confirm", "bad": "reject"}.get(self.facts.colour, "other")


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """What one label says and looks like: its word, its key, the look of its button, and its meaning."""

    word: str
    letter: str
    look: Literal["confirm", "other", "reject"]
    meaning: str  # as docs/verdicts.md has it


class PairLabel(StrEnum):
    """What two articles are to the reader of a validation sample, by the letters of verdicts.model.LABELS."""

    facts: LabelFacts

    def __new__(cls, letter: str, *facts: LabelFacts) -> Self:
        """Return the label with its facts."""
        label = str.__new__(cls, letter)
        label._value_ = letter
        (label.facts,) = facts
        return label

    DUPLICATE = (
        "D",
        LabelFacts("Duplicate", "d", "confirm", "The same article: copied, cropped, lightly edited or extended."),
    )
    VERSION = (
        "V",
        LabelFacts(
            "Version",
            "v",
            "other",
            "Two states of one story: the later one keeps part of the wording and adds its own text.",
        ),
    )
    TEMPLATE = (
        "T",
        LabelFacts("Template", "t", "other", "The same form with other facts: rates, forecasts, results, a column."),
    )
    EVENT = "E", LabelFacts("Same event", "e", "reject", "The same event, reported independently.")
    NOTHING = (
        "N",
        LabelFacts("Unrelated", "n", "reject", "No more in common than phrases and boilerplate, or nothing at all."),
    )

    @property
    def label(self) -> str:
        """The label in words."""
        return self.facts.word

    @property
    def action(self) -> str:
        """The name of what its key does."""
        return f"label_{self.name.lower()}"


LABEL_CHOICES = [(label.value, label.label) for label in PairLabel]

# In the order of the pages; Answer itself has the order of the history and of the API.
BUTTONS = sorted(Answer, key=lambda answer: answer.facts.place)
CHOICES = [(answer.value, answer.label) for answer in BUTTONS]
OF_STATE = {answer.state: answer for answer in Answer}
OF_LINK = {answer.link: answer for answer in Answer}


def with_effect(*effects: Effect) -> Collection[Answer]:
    """Return the answers that have one of these effects on clusters."""
    return [answer for answer in Answer if answer.facts.effect in effects]


# States of pairs that cannot be in one cluster, and of those that perhaps cannot; and the links that say the latter.
PARTED_STATES = [answer.state for answer in with_effect(Effect.CANNOT)]
PARTING = with_effect(Effect.CANNOT, Effect.BY_PROFILE)
LINKS_BY_PROFILE = [answer.link for answer in with_effect(Effect.BY_PROFILE)]

# The same values as types: of the API, which refuses any other.
if TYPE_CHECKING:
    AnswerKey = str
    StateKey = str
else:
    AnswerKey = Literal[tuple(answer.value for answer in Answer)]
    StateKey = Literal[("undecided", *OF_STATE)]
