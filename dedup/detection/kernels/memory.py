"""The memory of a process that makes many large arrays, one after the other."""

from __future__ import annotations

import numpy as np

# The largest block that still moves glibc's thresholds is 32 MB.
_BYTES = 30 << 20


def keep_freed_memory() -> None:
    """Let this process keep up to 60 MB of freed memory for its next arrays.

    Otherwise glibc returns the memory of each array above 128 KB to the system, which hands out its pages one by one
    and cleared the next time: a third of the CPU seconds of some passes. Freeing a block that was mapped raises glibc's
    thresholds, M_MMAP_THRESHOLD to its size and M_TRIM_THRESHOLD to twice that (mallopt(3)). Elsewhere this does
    nothing.
    """
    np.empty(_BYTES, dtype=np.uint8)
