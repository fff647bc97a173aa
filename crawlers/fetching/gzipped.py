"""Gzip data: what they begin with, and whether they are whole."""

from __future__ import annotations

import zlib

GZIP = b"\x1f\x8b\x08"
_CHUNK = 64 * 1024


def is_cut_off(packed: bytes, max_size: int) -> bool:
    """Return whether gzip data are truncated; false for other data and for more than max_size bytes unpacked."""
    size = 0
    while packed.startswith(GZIP):
        unpacking = zlib.decompressobj(wbits=31)
        while packed and not unpacking.eof:
            try:
                size += len(unpacking.decompress(packed, _CHUNK))
            except zlib.error:
                return False
            if size > max_size:
                return False
            packed = unpacking.unconsumed_tail
        if not unpacking.eof:
            return True
        packed = unpacking.unused_data  # the next member; any other trailing data are ignored
    return False
