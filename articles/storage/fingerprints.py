"""Fingerprints of what a stored result was computed from: the result is computed again when its fingerprint changes."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def fingerprint(*rests_on: Any) -> str:
    """Return the SHA-256 of these values as JSON. Fingerprints are stored: other bytes would renew every result."""
    return hashlib.sha256(json.dumps(rests_on).encode()).hexdigest()
