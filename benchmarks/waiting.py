"""Runs a command and waits for all processes that it leaves, so that the kernel adds up their CPU seconds too.

Java outlives the Python process that started it, which does not wait for it. Linux only: prctl(2),
PR_SET_CHILD_SUBREAPER.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from contextlib import suppress

_SET_CHILD_SUBREAPER = 36


def main() -> int:
    """Run the command of the arguments; return its exit code."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    code = subprocess.run(sys.argv[1:], check=False).returncode
    with suppress(ChildProcessError):
        while True:
            os.wait()
    return code


if __name__ == "__main__":
    sys.exit(main())
