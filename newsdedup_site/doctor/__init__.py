"""The doctor: looks whether the database keeps what newsdedup promises of it, and says how to repair what does not."""

from newsdedup_site.doctor.examining import INVARIANTS, Finding, UnknownInvariantError, examine
from newsdedup_site.doctor.invariant import Found, Invariant

__all__ = ["INVARIANTS", "Finding", "Found", "Invariant", "UnknownInvariantError", "examine"]
