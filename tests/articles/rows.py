"""Rows of the files that tests import."""

import json


def row(number: int = 1, **changes: object) -> dict[str, object]:
    values = {
        "date": "2026-03-02",
        "newspaper": "Harbour Post",
        "url": f"https://harbourpost.example/{number}",
        "headline": f"Ferry number {number}",
        "content": f"Ferry number {number} sails to Little Skerry.",
    }
    return values | changes


def json_lines(*rows: object) -> bytes:
    return b"".join(json.dumps(written).encode() + b"\n" for written in rows)
