"""Stored values, and values that versions agree on, never change."""

from __future__ import annotations

import hashlib

from articles.boilerplate.mode import Mode
from articles.storage.fingerprints import fingerprint


def test_fingerprints_never_change() -> None:
    written = '[1, "caf\\u00e9", true, "keep", [["2026-03-01", [2, 3]]]]'
    days = [("2026-03-01", (2, 3))]
    assert fingerprint(1, "café", True, Mode.KEEP, days) == hashlib.sha256(written.encode()).hexdigest()
