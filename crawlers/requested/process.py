"""A crawl as a process of its own: Scrapy's reactor runs only once in a process.

It stops gracefully when its standard input ends: when the worker closes it, and also when the worker was killed.
"""

import os
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import IO

from django.conf import settings

_PROGRAM = "from crawlers.requested.process import main; main()"
# Characters kept of what a crawl prints: from the beginning of its summary, and from the end of its errors.
_MAX_OUTPUT = 20_000
_MAX_ERRORS = 2_000


class CrawlProcess:
    """A crawl of the newspapers of these names. `status` is None while it runs, then its exit status."""

    def __init__(self, names: Sequence[str], options: Sequence[str] = ()) -> None:
        self._files = ExitStack()
        self._output = self._files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - close() closes it
        self._errors = self._files.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - close() closes it
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, "crawl", "--no-progress", *options, "--", *names],
            cwd=settings.BASE_DIR,
            stdin=subprocess.PIPE,
            stdout=self._output,
            stderr=self._errors,
            # An interrupt from the terminal of the worker reaches the worker only, which stops the crawl once.
            start_new_session=True,
        )

    @property
    def status(self) -> int | None:
        return self._process.poll()

    @property
    def output(self) -> str:
        """The beginning of its summary."""
        return _read(self._output, 0, _MAX_OUTPUT)

    @property
    def errors(self) -> str:
        """The end of what it wrote on standard error."""
        return _read(self._errors, -_MAX_ERRORS, _MAX_ERRORS)

    def stop(self) -> None:
        """Ask it to stop; it finishes its current pages."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        """Let go of it, which stops it too."""
        self.stop()
        self._files.close()


def _read(file: IO[bytes], start: int, number: int) -> str:
    size = os.fstat(file.fileno()).st_size
    written = os.pread(file.fileno(), number, max(0, size + start) if start < 0 else start)
    return written.decode("utf-8", "replace").replace("\0", "")


def main() -> None:
    """Run manage.py with the arguments of this program, and interrupt it when standard input ends."""

    def interrupt() -> None:
        while os.read(sys.stdin.fileno(), 1):
            pass
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    sys.argv[0] = "manage.py"
    runpy.run_module("newsdedup", run_name="__main__")
