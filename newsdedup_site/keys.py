"""Keys of the pages: what can be done with a key, which ones a user chose, and the page on which they are chosen."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from articles.forms import UserRequest
from dedup.answers import BUTTONS, Answer, PairLabel
from dedup.models.decisions import OF_CLUSTERS
from dedup.views.requests import safe_next
from newsdedup_site.models import KeyMap

_PAIR = ("pair", "cluster_card")
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
        return not self.pages or page in self.pages

    def meets(self, other: Action) -> bool:
        """Return whether some page has both actions, so that they cannot share a key."""
        return not self.pages or not other.pages or not set(self.pages).isdisjoint(other.pages)


def _answered(answer: Answer) -> tuple[str, ...]:
    return (*_PAIR, "compare") if answer in OF_CLUSTERS else ("pair", "compare")


_ALL = (
    Action("help", "show the keys of this page", "?"),
    Action("undo", "undo your last answer", "z"),
    Action("start", "open the first one of the list", "r", ("queue", "clusters")),
    *(Action(answer.value, answer.facts.button, answer.facts.letter, _answered(answer)) for answer in BUTTONS),
    Action("later", "Later", "l", _PAIR),
    *(Action(label.action, f"Label: {label.label.lower()}", label.lower(), _SAMPLED) for label in PairLabel),
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
    Action("view", "another way to show the texts: side by side, merged, unmarked", "s", _COMPARED),
    Action("why", "show or hide why: the reasons of the verdict", "w", ("pair",)),
    Action("marks", "mark in the texts what the next pass found", "f", ("pair",)),
)
ACTIONS = {action.name: action for action in _ALL}


# Browsers, forms and screen readers need these; they are refused by name, as is the space.
RESERVED = frozenset(
    {
        *("tab", "enter", "return", "esc", "escape", "space", "spacebar", "backspace", "delete", "insert", "home"),
        *("end", "pageup", "pagedown", "up", "down", "left", "right", "arrowup", "arrowdown", "arrowleft"),
        *("arrowright", "shift", "ctrl", "control", "alt", "altgr", "meta", "cmd", "capslock"),
    }
)


@dataclass(frozen=True)
class Keys:
    """The key of each action, "" for none. `on` is false if the user has switched all keys off."""

    on: bool = True
    by_action: Mapping[str, str] = field(default_factory=lambda: {name: action.key for name, action in ACTIONS.items()})

    def of(self, action: Action) -> list[str]:
        """Return every key that does it, the chosen one first; none if it is switched off."""
        key = self.by_action[action.name]
        return [key, *action.also] if self.on and key else []


def keys_of(user: Any) -> Keys:
    """Return the keys of a user. Nobody without a login has any."""
    if not user.is_authenticated:
        return Keys(on=False)
    if hasattr(user, "chosen_keys"):  # read with the user, by access/backend.py
        stored = KeyMap(**json.loads(user.chosen_keys)) if user.chosen_keys else None
    else:
        stored = KeyMap.objects.filter(pk=user.pk).first()
    return Keys() if stored is None else Keys(on=stored.on, by_action=_merged(stored.keys))


def _merged(chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the key of each action. An action that came later gives way to what the user has chosen."""
    merged = {name: chosen[name] for name in ACTIONS if name in chosen}
    for name, action in ACTIONS.items():
        if name not in merged:
            taken = any(
                merged[other] == action.key and ACTIONS[other].meets(action) for other in chosen if other in merged
            )
            merged[name] = "" if taken else action.key
    return merged


def store_keys(user: Any, *, on: bool, by_action: Mapping[str, str]) -> None:
    """Store the keys of a user, in which key_faults found nothing; an action that is not named keeps the registry's."""
    changed = {name: key for name, key in by_action.items() if key != ACTIONS[name].key}
    KeyMap.objects.update_or_create(user=user, defaults={"on": on, "keys": changed})


def key_faults(by_action: Mapping[str, str]) -> dict[str, str]:
    """Return what is wrong with these keys, a sentence by action; empty if they can be used."""
    faults = {name: f"There is no action {name!r}." for name in by_action if name not in ACTIONS}
    known = {name: key for name, key in by_action.items() if name in ACTIONS}
    faults |= {name: fault for name, key in known.items() if (fault := _fault_of(key))}
    every = {name: action.key for name, action in ACTIONS.items()} | known
    for one, other in combinations(every, 2):
        if every[one] and every[one] == every[other] and ACTIONS[one].meets(ACTIONS[other]):
            for here, there in ((one, other), (other, one)):
                text = (
                    f"“{every[here]}” is also the key of “{ACTIONS[there].label}”. Choose another key for one of them."
                )
                faults.setdefault(here, text)
    return faults


def _fault_of(key: str) -> str:
    if not key:
        return ""
    if key.strip().lower() in RESERVED or key.isspace():
        return f"“{key}” is reserved: browsers and forms need it. Choose a letter, a digit or a sign."
    if len(key) != 1:
        return f"“{key}” has {len(key)} characters; a key is one letter, digit or sign, such as “d”."
    if unicodedata.category(key)[0] in "CMZ":
        return "This character cannot be typed as one key. Choose a letter, a digit or a sign."
    return ""


class KeysForm(forms.Form):
    """The key of each action, empty for none, and whether any key does anything."""

    on = forms.BooleanField(
        required=False,
        label="Use keys",
        help_text="Without keys, every button and link still works.",
        widget=forms.CheckboxInput(attrs={"class": "form-check-input"}),
    )

    def __init__(self, *args: Any, keys: Keys, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["on"].initial = keys.on
        for name, action in ACTIONS.items():
            attrs = {"class": "form-control key-field", "autocomplete": "off", "autocapitalize": "off"}
            self.fields[name] = forms.CharField(
                required=False,
                max_length=20,
                label=action.label[0].upper() + action.label[1:],
                initial=keys.by_action[name],
                widget=forms.TextInput(attrs={**attrs, "size": 3, "spellcheck": "false"}),
            )

    def clean(self) -> None:
        """Show at its field what is wrong with a key."""
        if not self.errors:
            for name, fault in key_faults({name: self.cleaned_data[name] for name in ACTIONS}).items():
                self.add_error(name, fault)


def keys(request: UserRequest) -> HttpResponse:
    """Show the keys of the user, and store those that the form chooses."""
    if request.method == "POST" and "reset" in request.POST:
        store_keys(request.user, on=True, by_action={})
        messages.success(request, "All keys are as they were at first.")
        return redirect("keys")
    form = KeysForm(request.POST or None, keys=keys_of(request.user))
    if request.method == "POST" and form.is_valid():
        store_keys(request.user, on=form.cleaned_data.pop("on"), by_action=form.cleaned_data)
        messages.success(request, "Your keys are saved.")
        return redirect("keys")
    return render(request, "keys/keys.html", {"form": form}, status=400 if form.errors else 200)


def keys_switch(request: UserRequest) -> HttpResponse:
    """Switch all keys of the user on or off, and return to the page."""
    if request.method == "POST":
        on = request.POST.get("on") == "1"
        KeyMap.objects.update_or_create(user=request.user, defaults={"on": on})
        messages.success(request, "Keys are on." if on else "Keys are off. The page Keys switches them on again.")
    return redirect(safe_next(request, "keys"))
