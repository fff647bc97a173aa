"""The keys of one user: the registry's, changed as the user chose."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from newsdedup_site.keys.actions import ACTIONS, Action
from newsdedup_site.models import KeyMap

# Browsers, forms and screen readers need these; they are refused by name, as is the space.
RESERVED = frozenset(
    {
        *("tab", "enter", "return", "esc", "escape", "space", "spacebar", "backspace", "delete", "insert", "home"),
        *("end", "pageup", "pagedown", "up", "down", "left", "right", "arrowup", "arrowdown", "arrowleft"),
        *("arrowright", "shift", "ctrl", "control", "alt", "altgr", "meta", "cmd", "capslock"),
    }
)


class KeysError(ValueError):
    """Keys that cannot be used; `faults` has a sentence for each action, by name."""

    def __init__(self, faults: dict[str, str]) -> None:
        super().__init__(" ".join(f"{name}: {fault}" for name, fault in faults.items()))
        self.faults = faults


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
    """Store the keys of a user; an action that is not named keeps the registry's. Raises KeysError, storing nothing."""
    if faults := faults_of(by_action):
        raise KeysError(faults)
    changed = {name: key for name, key in by_action.items() if key != ACTIONS[name].key}
    KeyMap.objects.update_or_create(user=user, defaults={"on": on, "keys": changed})


def switch_keys(user: Any, *, on: bool) -> None:
    """Switch all keys of a user on or off; which they are stays."""
    KeyMap.objects.update_or_create(user=user, defaults={"on": on})


def faults_of(by_action: Mapping[str, str]) -> dict[str, str]:
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
