"""Loaded by every Python that a command under test starts, such as its workers: arms the fault of its environment."""

from tests.crash.faults import arm

arm()
