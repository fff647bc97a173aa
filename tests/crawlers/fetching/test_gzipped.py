"""Truncated compressed data."""

import gzip

import pytest

from crawlers.fetching.gzipped import is_cut_off

TEXT = b"The ferry sails at noon on weekdays. " * 200
PACKED = gzip.compress(TEXT, mtime=0)


@pytest.mark.parametrize(
    ("packed", "cut_off"),
    [
        (PACKED, False),
        (PACKED + PACKED, False),
        (PACKED + b"\0\0\0", False),
        (PACKED[:-1], True),
        (PACKED[:40], True),
        (PACKED + PACKED[:-9], True),
        (b"", False),
        (TEXT, False),
        (b"\x1f\x8b\x08noise that is no gzip", False),
        (gzip.compress(b" " * 10_000_000, mtime=0)[:-9], False),
    ],
)
def test_is_cut_off(packed: bytes, cut_off: bool) -> None:
    assert is_cut_off(packed, 1_000_000) is cut_off
