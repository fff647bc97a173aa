"""Fingerprints of the input of a stored result; when one changes, the result is computed again."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def fingerprint(*values: Any) -> str:
    """Return the SHA-256 of these values as JSON. They are stored: other bytes would invalidate every result."""
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()
