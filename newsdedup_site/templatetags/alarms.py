"""What is wrong now, for the dashboard."""

from __future__ import annotations

from typing import Any

from django import template

from newsdedup_site.alarms.views import Present, present

register = template.Library()


@register.simple_tag(takes_context=True)
def alarms(context: dict[str, Any]) -> Present:
    """Return what is wrong now, as far as the user may know it."""
    return present(context["request"].user)
