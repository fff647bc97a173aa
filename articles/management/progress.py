"""Progress bars on standard error."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import Progress, ProgressColumn


def progress_bars(*columns: ProgressColumn, shown: bool = True) -> Progress:
    """Return progress bars with these columns, or with rich's default ones; only a terminal shows them."""
    return Progress(*columns, console=Console(stderr=True), disable=not (shown and sys.stderr.isatty()))
