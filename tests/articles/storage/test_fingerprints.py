"""Stored values, and values that versions agree on, never change."""

from __future__ import annotations

import hashlib

from articles.boilerplate.mode import Mode
from articles.storage.fingerprints import fingerprint
from articles.storage.locks import Lock


def test_fingerprints_never_change() -> None:
    written = '[1, "caf\\u00e9", true, "keep", [["2026-03-01", [2, 3]]]]'
    days = [("2026-03-01", (2, 3))]
    assert fingerprint(1, "café", True, Mode.KEEP, days) == hashlib.sha256(written.encode()).hexdigest()


def test_the_numbers_of_locks_never_change() -> None:
    assert {lock.name: int(lock) for lock in Lock} == {
        "INGEST": 5112001, "REVIEW": 5112002, "RUN": 5112003, "SCRATCH": 5112004, "MIGRATE": 5112005,
        "CRAWL": 5112006, "CRAWL_QUEUE": 5112007, "ALARMS": 5112011, "IMPORT": 5112012,
    }  # fmt: skip
