"""What is done with boilerplate before texts are compared. It imports nothing: the smallest modules use it."""

from enum import StrEnum


class Mode(StrEnum):
    """What is done with boilerplate: kept, removed from all articles but the first, or removed from all."""

    KEEP = "keep"
    STORY = "story"
    TOPIC = "topic"
