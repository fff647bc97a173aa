"""The signatures of minhash.py compiled by numba (the extra `fast`): the same bits, five times faster."""

import numpy as np
import numpy.typing as npt
from numba import njit, uint32

_EMPTY = uint32(0xFFFFFFFF)
_ODD = uint32(0x9E3779B1)

# Every step is cast, because numba computes with 64 bits otherwise: other results, and a quarter of the speed.


@njit(uint32(uint32), inline="always", cache=True)
def _mixed(bits: int) -> int:
    bits = uint32(bits ^ (bits >> uint32(16)))
    bits = uint32(bits * uint32(0x85EBCA6B))
    bits = uint32(bits ^ (bits >> uint32(13)))
    bits = uint32(bits * uint32(0xC2B2AE35))
    return uint32(bits ^ (bits >> uint32(16)))


@njit(cache=True)
def _mix_all(members: npt.NDArray[np.uint32], salt: int, out: npt.NDArray[np.uint32]) -> None:
    for place in range(len(members)):  # nothing but this in the loop, so that it works on 8 or 16 numbers at a time
        out[place] = _mixed(uint32(members[place] ^ salt))


@njit(cache=True)
def _deal(hashed: npt.NDArray[np.uint32], shift: int, minima: npt.NDArray[np.uint32]) -> None:
    minima[:] = _EMPTY
    for place in range(len(hashed)):
        bits = hashed[place]
        slot = np.intp(bits >> shift)
        minima[slot] = min(minima[slot], bits)  # no branch, which the processor would guess wrongly


@njit(cache=True)
def _fill(minima: npt.NDArray[np.uint32], dealt: npt.NDArray[np.uint32]) -> None:
    for slot in range(len(minima)):
        if minima[slot] == _EMPTY:
            minima[slot] = dealt[slot]


@njit(cache=True)
def _choose(members: npt.NDArray[np.uint32], turns: int, minima: npt.NDArray[np.uint32]) -> None:
    for slot in range(len(minima)):
        if minima[slot] == _EMPTY:
            salt = _mixed(uint32(uint32(slot + turns) * _ODD))
            for member in members:
                minima[slot] = min(minima[slot], _mixed(uint32(member ^ salt)))


@njit(cache=True)
def sign(
    members: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64], turns: int, signed: npt.NDArray[np.uint8]
) -> None:
    """Write the signatures of the sets members[offsets[i]:offsets[i + 1]] into the rows of `signed`."""
    slots, shift = signed.shape[1], uint32(32)
    while slots >> (uint32(32) - shift) > 1:
        shift = uint32(shift - uint32(1))
    hashed = np.empty(np.diff(offsets).max(), dtype=np.uint32)
    minima, dealt = np.empty(slots, dtype=np.uint32), np.empty(slots, dtype=np.uint32)
    for row in range(len(signed)):
        own = members[offsets[row] : offsets[row + 1]]
        part = hashed[: len(own)]
        minima[:] = _EMPTY
        for turn in range(turns):
            if len(own) and minima.max() == _EMPTY:
                _mix_all(own, uint32(uint32(turn) * _ODD), part)
                _deal(part, shift, dealt)
                _fill(minima, dealt)
        _choose(own, turns, minima)
        for slot in range(slots):
            signed[row, slot] = np.uint8(minima[slot] & uint32(0xFF))
