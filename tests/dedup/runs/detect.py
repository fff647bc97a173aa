"""A run in a process of its own that has several workers though the store is small, and that can kill itself.

`python -m tests.dedup.runs.detect --workers N [--block-articles N] [--kill STEP:N] OPTIONS` runs find_duplicates with
these options. With --kill, the process ends as by `kill -9` as soon as it has done that step of the run N times.
"""

import argparse
import os
import signal
import sys
from collections.abc import Callable
from functools import wraps
from multiprocessing.connection import Connection
from typing import Any

import django
from django.core.management import call_command

from articles.processes import Pool


def _dying(done: Callable[..., Any], times: int) -> Callable[..., Any]:
    """Return the function, which kills this process when it is done for this many times."""
    left = [times]

    @wraps(done)
    def step(*arguments: Any, **options: Any) -> Any:
        result = done(*arguments, **options)
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return step


def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--block-articles", type=int, default=100)
    parser.add_argument("--kill", default="")
    own, options = parser.parse_known_args()
    django.setup()
    # Only now can models be imported; worker processes import this file before they set Django up.
    from articles.storage import boilerplate_marks  # noqa: PLC0415
    from dedup.detection.runs import blocks, judging, outdated_verdicts, pipeline, scope  # noqa: PLC0415

    scope.BLOCK_ARTICLES = outdated_verdicts.PAIRS_AT_ONCE = own.block_articles
    blocks.ARTICLES_PER_WORKER = judging.PAIRS_PER_WORKER = 1
    boilerplate_marks.FEW_ARTICLES, boilerplate_marks.ARTICLES_AT_ONCE = 0, 1
    start = Pool.start

    def noting(pool: Pool) -> Connection:
        sys.stderr.write("A worker starts.\n")
        return start(pool)

    setattr(Pool, "start", noting)  # noqa: B010 - mypy refuses an assignment to a method
    if own.kill:
        step, times = own.kill.split(":")
        module = next(
            module_of_step
            for module_of_step in (pipeline, blocks, judging, boilerplate_marks)
            if hasattr(module_of_step, step)
        )
        setattr(module, step, _dying(getattr(module, step), int(times)))
    call_command("find_duplicates", "--no-progress", f"--workers={own.workers}", *options)


if __name__ == "__main__":
    _main()
