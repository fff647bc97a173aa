"""Rows of the files that tests import, and what commands print."""

import io
import json
from typing import Any

from django.core.management import call_command


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


def printed(command: str, *arguments: str, **options: Any) -> tuple[str, str]:
    """Return what a command prints on standard output and on standard error."""
    out, err = io.StringIO(), io.StringIO()
    call_command(command, *arguments, stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()
