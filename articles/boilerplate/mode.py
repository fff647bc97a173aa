"""How boilerplate is treated before texts are compared. Imports nothing, because the smallest modules use it."""

from enum import StrEnum


class Mode(StrEnum):
    """Boilerplate is kept, removed from all articles but the first, or removed from all."""

    KEEP = "keep"
    STORY = "story"
    TOPIC = "topic"
