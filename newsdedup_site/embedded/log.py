"""The server's log: what is written to it, and how large it may become.

It says when the server started, stopped and crashed, and which connections it refused. It contains no statement and no
value of a row: those are texts of articles, names and addresses of users. The errors of statements reach the program
that sent them, which knows better what to say of them.
https://www.postgresql.org/docs/current/runtime-config-logging.html
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from newsdedup_site.embedded.folders import home

SETTINGS = {
    # Errors of statements name values in their first line: invalid input syntax for type integer: "...".
    "log_min_messages": "log",
    # No second lines: "Failed process was running: INSERT ...", "Key (url)=(...) already exists", a row of COPY.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
    "log_statement": "none",
    "log_min_duration_statement": "-1",
    "log_min_duration_sample": "-1",
    "log_transaction_sample_rate": "0",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_lock_waits": "off",
    "log_temp_files": "-1",
    # A line or two every few minutes, of no use to whoever looks for the cause of a crash.
    "log_checkpoints": "off",
}
MAXIMUM_BYTES = 1_000_000
_KEPT_BYTES = 100_000


def log_file() -> Path:
    """Return the path of the log."""
    return home() / "run" / "postgresql.log"


def remove_former_log() -> None:
    """Remove the log of earlier versions, in which statements were logged. Only before the server starts."""
    (home() / "run" / "server.log").unlink(missing_ok=True)


def keep_small() -> None:
    """Shorten the log to its last lines if it is larger than MAXIMUM_BYTES.

    The server appends to it, so it can go on meanwhile; lines that it writes during these milliseconds may be lost.
    """
    with suppress(FileNotFoundError), log_file().open("r+b") as log:
        if log.seek(0, 2) <= MAXIMUM_BYTES:
            return
        log.seek(-_KEPT_BYTES, 2)
        _, _, kept = log.read().partition(b"\n")
        log.seek(0)
        log.truncate()
        log.write(kept)
