"""Passes that tests register.

One pairs articles of one newspaper with the same image, as a column of their file names it; one finds nothing.
"""

import json
from dataclasses import dataclass
from typing import ClassVar

from dedup.declarations import SettingEffect, setting
from dedup.detection.passes.base import PassConfig
from dedup.detection.passes.keyed import Key, KeyedPass, Words


@dataclass(frozen=True, slots=True)
class ImageConfig(PassConfig):
    """Settings of the image pass."""

    largest_group: int = setting(
        4,
        range=(2, 1000),
        unit="articles",
        help="An image that more articles than this have is a logo and is ignored.",
        source="a choice",
        effect=SettingEffect.MORE_IF_HIGHER,
    )


class ImagePass(KeyedPass):
    """Pairs with the same image URL within one newspaper."""

    name: ClassVar[str] = "image"
    label: ClassVar[str] = "Same image"
    proposes: ClassVar[str] = "the same image URL in one newspaper"
    config_class: ClassVar[type[PassConfig]] = ImageConfig
    marked_note: ClassVar[str] = "the same image, if at most {largest_group} articles have it"
    cites: ClassVar[tuple[str, ...]] = ("@misc{images,\n  title = {Images}\n}",)
    key: ClassVar[Key] = Key("nullif(article.extra_columns, '')::json ->> 'image'")
    words: ClassVar[Words] = Words(
        same="Both have the image {key}.",
        different="They have no image in common.",
        elsewhere="They have the same image but are of two newspapers.",
        too_many="{articles} articles have the image {key}; one of more than {largest_group} is ignored.",
    )


class UnsharedPass(ImagePass):
    """A pass whose key no two articles share."""

    name: ClassVar[str] = "unshared"
    key: ClassVar[Key] = Key("article.id::text")


def shows(number: int) -> dict[str, str]:
    """Return what an article with this image has."""
    return {"extra_columns": json.dumps({"image": f"https://harbour.example/{number}.jpg"})}
