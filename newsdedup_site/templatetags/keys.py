"""Template tags for keys: what a key does is an action of newsdedup_site/keys.py."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from newsdedup_site.keys import ACTIONS, Action, Keys, keys_of

register = template.Library()


@register.simple_tag(takes_context=True)
def key(context: dict[str, Any], action: str) -> SafeString:
    """Return the attributes of the element that an action clicks, or focuses if it is a field."""
    found = _keys(context).of(ACTIONS[action])
    marked = format_html('data-action="{}"', action)
    return format_html('{} data-key="{}"', marked, " ".join(found)) if found else marked


@register.simple_tag(takes_context=True)
def kbd(context: dict[str, Any], action: str) -> SafeString:
    """Show the key that a user pressed for an action, with a space before it; nothing if there is none."""
    found = _keys(context).of(ACTIONS[action])
    return format_html(" <kbd>{}</kbd>", found[0]) if found else SafeString("")


@register.filter
def cap(key: str) -> str:
    """Write a key as it is printed on keyboards."""
    return {"ArrowLeft": "←", "ArrowRight": "→"}.get(key, key)


@register.simple_tag(takes_context=True)
def keys_on(context: dict[str, Any]) -> bool:
    return _keys(context).on


@register.simple_tag(takes_context=True)
def keys_of_page(context: dict[str, Any]) -> list[tuple[Action, list[str]]]:
    """Return the actions of this page, each with its keys."""
    match = context["request"].resolver_match
    keys = _keys(context)
    page = match and match.url_name
    return [(action, keys.of(action)) for action in ACTIONS.values() if action.is_on(page)]


def _keys(context: dict[str, Any]) -> Keys:
    """Return the keys of the user of this page, asked for once."""
    request = context["request"]
    if not hasattr(request, "keys_of_user"):
        request.keys_of_user = keys_of(request.user)
    found: Keys = request.keys_of_user
    return found
