"""How answers are written: JSON in UTF-8."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ninja.renderers import JSONRenderer


class UTF8Renderer(JSONRenderer):
    """JSON in which letters are letters, not escapes."""

    json_dumps_params: Mapping[str, Any] = {"ensure_ascii": False}


RENDERER = UTF8Renderer()
