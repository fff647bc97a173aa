"""The keeper: a separate process that stops the server when nobody uses it any more."""

import fcntl
import os
import subprocess
import sys
import time

from newsdedup_site.embedded.folders import CHECKOUT, is_current, open_lock
from newsdedup_site.embedded.log import keep_small
from newsdedup_site.embedded.server import stop

LINGER_SECONDS = 60.0


def keep() -> None:
    """Fork the keeper, which stops the server when nobody has used it for LINGER_SECONDS.

    The calling process returns immediately. The keeper has a session of its own, so Ctrl-C does not stop it.
    """
    if os.fork():
        return
    os.setsid()
    keeper = open_lock("keeper.lock")
    try:
        fcntl.flock(keeper, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # another keeper is running
    users = open_lock("users.lock")
    idle_since: float | None = None
    while is_current(users, "users.lock"):
        time.sleep(1.0)
        keep_small()
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            idle_since = None
            continue
        idle_since = idle_since or time.monotonic()
        if time.monotonic() - idle_since >= LINGER_SECONDS and is_current(users, "users.lock"):
            # The keeper still holds `users.lock`: a new user waits for it, then starts the server again.
            stop()
            return
        fcntl.flock(users, fcntl.LOCK_UN)


def ensure_keeper() -> None:
    keeper = open_lock("keeper.lock")
    try:
        fcntl.flock(keeper, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    finally:
        os.close(keeper)
    subprocess.run(
        [sys.executable, "-m", "newsdedup_site.embedded", "keep"],
        check=True,
        cwd=CHECKOUT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
