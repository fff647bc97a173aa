"""What can be done with a key, on which pages, and which key does it unless a user chooses another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dedup.answers import BUTTONS, PairLabel

_PAIR = ("pair", "cluster_card")
_ANSWERED = (*_PAIR, "compare")
_CLUSTER = ("cluster",)
_PREVIEW = ("cluster_preview",)
_SAMPLED = ("validation_pair",)
_COMPARED = ("pair", "compare", *_SAMPLED)
_STEPS = (*_PAIR, *_CLUSTER, *_SAMPLED)


@dataclass(frozen=True)
class Action:
    """Something that a key does. `pages` are names of URL patterns; none means every page.

    `also` are keys that do it too and that nobody can choose or change: the arrows.
    """

    name: str
    label: str
    key: str
    pages: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    def is_on(self, page: str | None) -> bool:
        """Return whether the action exists on this page."""
        return not self.pages or page in self.pages

    def meets(self, other: Action) -> bool:
        """Return whether some page has both actions, so that they cannot share a key."""
        return not self.pages or not other.pages or not set(self.pages).isdisjoint(other.pages)


_ALL = (
    Action("help", "show the keys of this page", "?"),
    Action("undo", "undo your last answer", "z"),
    Action("start", "open the first one of the list", "r", ("queue", "clusters")),
    *(Action(answer.value, answer.facts.button, answer.facts.letter, _ANSWERED) for answer in BUTTONS),
    Action("later", "Later", "l", _PAIR),
    *(Action(label.action, f"Label: {label.label.lower()}", label.facts.letter, _SAMPLED) for label in PairLabel),
    Action("agree", "agree with a decision made while you were reading", "a", ("pair",)),
    Action("contest", "contest a decision made while you were reading", "c", ("pair",)),
    Action("confirm_cluster", "confirm the cluster", "y", _CLUSTER),
    Action("split_weakest", "split the cluster at its weak link", "p", _CLUSTER),
    Action("split", "split off the ticked articles", "s", _CLUSTER),
    *(Action(f"tick_{row}", f"tick row {row}", str(row), _CLUSTER) for row in range(1, 10)),
    Action("dissolve", "dissolve the cluster", "d", _CLUSTER),
    Action("merge", "merge with the nearest cluster", "g", _CLUSTER),
    Action("compare", "compare the first other article with the kept one", "c", _CLUSTER),
    Action("weakest", "view the weakest pair", "w", _CLUSTER),
    Action("do_it", "do what the preview shows", "y", _PREVIEW),
    Action("back", "back to the cluster, and change nothing", "b", (*_PREVIEW, "pair", "compare")),
    Action("note", "write a note; Esc leaves it", "m", (*_STEPS, *_PREVIEW, "compare")),
    Action("next", "the next one, without an answer", "j", _STEPS, ("ArrowRight",)),
    Action("previous", "the previous one", "k", _STEPS, ("ArrowLeft",)),
    Action("next_difference", "the next difference in the text", "J", _COMPARED),
    Action("previous_difference", "the previous difference in the text", "K", _COMPARED),
    Action("next_shared", "the next passage that both texts have", "O", _COMPARED),
    Action("previous_shared", "the previous passage that both texts have", "I", _COMPARED),
    Action("unfold", "unfold or fold long passages", "x", _COMPARED),
)
ACTIONS = {action.name: action for action in _ALL}


def actions_on(page: str | None) -> Iterator[Action]:
    """Yield the actions of a page, in the order of the registry."""
    return (action for action in _ALL if action.is_on(page))
