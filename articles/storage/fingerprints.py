"""Fingerprints of the input of a stored result, which is computed again when one changes, and digests of columns."""

import hashlib
import json
from typing import Any


def fingerprint(*values: Any) -> str:
    """Return the SHA-256 of these values as JSON. They are stored: other bytes would invalidate every result."""
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def md5(text: str) -> str:
    """Return what PostgreSQL's function md5, of which indexes are made, returns for this text."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
