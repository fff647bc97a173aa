"""What an editor can answer about a pair: the one table that pages, keys, models, API, exports and checks read."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Self


class Effect(StrEnum):
    """What an answer does to clusters: the effects of the view dedup_standing_link, and one that a profile sets."""

    MUST = "must"
    CANNOT = "cannot"
    BY_PROFILE = "by profile"  # versions: the default profile says whether they join
    NONE = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What one answer says, looks like and does.

    `letter`: its key, unless a user chooses another. `teaches`: the label of the pair for a model, a letter of
    dedup.detection.verdicts.model.LABELS; a model learns nothing from an answer without one. A link and a state without
    a name of their own are called like the answer.
    """

    value: str
    button: str
    letter: str
    colour: Literal["good", "bad", "warn", "accent"]
    word: str  # what the pair is
    when: str  # to give it
    example: str
    did: str  # what the editor did, in the history
    stored: str  # the sentence after the answer
    state_label: str
    link_label: str
    effect: Effect
    teaches: str = ""
    state: str = ""
    link: str = ""


class _WithFacts(StrEnum):
    """Values that have facts; their first fact is the value itself."""

    facts: Any

    def __new__(cls, facts: Any) -> Self:
        """Return the value of these facts."""
        made = str.__new__(cls, facts.value)
        made._value_, made.facts = facts.value, facts
        return made


class Answer(_WithFacts):
    """What an editor can answer about a pair; the values are the kinds of decisions on one pair and of readings.

    A state of pairs and a kind of links belong to each. The view dedup_standing_link derives the state of any other
    link than must and cannot from its name; an answer with an effect on clusters needs a line there, by a migration.
    """

    facts: Facts

    CONFIRM = Facts(
        value="confirm",
        button="Duplicate",
        letter="y",
        colour="good",
        word="duplicate",
        when="a reader would call them the same article: copied, cropped, lightly edited, or under another headline",
        example="both papers print the agency's report on the pier, one without its last paragraph",
        did="confirmed the pair",
        stored="Confirmed: duplicates.",
        state="confirmed",
        state_label="confirmed duplicate",
        link="must",
        link_label="must be in one cluster",
        effect=Effect.MUST,
        teaches="D",
    )
    REJECT = Facts(
        value="reject",
        button="Not a duplicate",
        letter="n",
        colour="bad",
        word="not a duplicate",
        when="they share no more than a subject, or nothing at all",
        example="two papers each send a reporter to the same match",
        did="rejected the pair",
        stored="Rejected: not duplicates.",
        state="rejected",
        state_label="not a duplicate",
        link="cannot",
        link_label="cannot be in one cluster",
        effect=Effect.CANNOT,
        teaches="N",
    )
    VERSION = Facts(
        value="version",
        button="Version",
        letter="v",
        colour="accent",
        word="version",
        when="the same article at another stage, with news of its own",
        example="the report on a fire at noon, and the same one in the evening with the number of injured",
        did="called the pair versions",
        stored="Answered: versions of one article.",
        state_label="another version",
        link_label="is another version of the same article",
        effect=Effect.BY_PROFILE,
        teaches="V",
    )
    TEMPLATE = Facts(
        value="template",
        button="Template",
        letter="t",
        colour="warn",
        word="template",
        when="the same form with other facts",
        example="the exchange rates of two days",
        did="called the pair templates",
        stored="Answered: templates, the same form with other facts.",
        state_label="a template",
        link_label="has the same form and other facts; cannot be in one cluster",
        effect=Effect.CANNOT,
        teaches="T",
    )
    PART = Facts(
        value="part",
        button="Contains",
        letter="q",
        colour="accent",
        word="part of something larger",
        when="one repeats or quotes the other among other things; a cropped copy is a duplicate",
        example="a brief that a round-up of the day repeats",
        did="said that one of the pair contains or quotes the other",
        stored="Answered: one contains or quotes the other.",
        state_label="contained or quoted",
        link_label="one contains or quotes the other; cannot be in one cluster",
        effect=Effect.CANNOT,
        teaches="V",
    )
    UNSURE = Facts(
        value="unsure",
        button="Unsure",
        letter="u",
        colour="warn",
        word="unsure",
        when="nobody can say from these texts; add a note",
        example="one of the texts ends after two sentences",
        did="was unsure of the pair",
        stored="Left open: unsure.",
        state_label="unsure",
        link_label="left open",
        effect=Effect.NONE,
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
    def meaning(self) -> str:
        """When to give it, with an example, in sentences."""
        return f"{self.facts.when[0].upper()}{self.facts.when[1:]}. For example: {self.facts.example}."

    @property
    def look(self) -> str:
        """The end of the class of its button, decide-…: filled are the two answers to the question itself."""
        return {"good": "confirm", "bad": "reject"}.get(self.facts.colour, "other")


# When to put a question off instead.
LATER = (
    "You want to answer it another time, and it waits for you under Later. For example: you want to ask a colleague."
)


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """What one label says and looks like: its letter, its word, the look of its button, and its meaning."""

    value: str
    word: str
    look: Literal["confirm", "other", "reject"]
    meaning: str  # as docs/verdicts.md has it


class PairLabel(_WithFacts):
    """What two articles are to the reader of a validation sample, by the letters of verdicts.model.LABELS."""

    facts: LabelFacts

    DUPLICATE = LabelFacts(
        "D", "Duplicate", "confirm", "The same article: copied, cropped, lightly edited or extended."
    )
    VERSION = LabelFacts(
        "V",
        "Version",
        "other",
        "Two states of one story: the later one keeps part of the wording and adds its own text.",
    )
    TEMPLATE = LabelFacts(
        "T", "Template", "other", "The same form with other facts: rates, forecasts, results, a column."
    )
    EVENT = LabelFacts("E", "Same event", "reject", "The same event, reported independently.")
    NOTHING = LabelFacts(
        "N", "Unrelated", "reject", "No more in common than phrases and boilerplate, or nothing at all."
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
BUTTONS = [Answer.CONFIRM, Answer.PART, Answer.VERSION, Answer.TEMPLATE, Answer.REJECT, Answer.UNSURE]
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
