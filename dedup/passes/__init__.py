"""The detection passes, in the order in which a run executes them.

A new pass is one file beside this one, one line here, and one test.
"""

from dedup.passes.base import Pass
from dedup.passes.exact import ExactPass
from dedup.passes.title import TitlePass
from dedup.passes.trigram import TrigramPass
from dedup.passes.url import UrlPass

PASSES: dict[str, Pass] = {each.name: each for each in (UrlPass(), TitlePass(), ExactPass(), TrigramPass())}

__all__ = ["PASSES"]
