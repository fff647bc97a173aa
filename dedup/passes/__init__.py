"""The detection passes, in the order in which a run executes them.

A new pass is one file beside this one, one line here, and one test.
"""

from dedup.passes.base import Pass
from dedup.passes.exact import ExactPass
from dedup.passes.minhash import MinhashPass
from dedup.passes.sentence import SentencePass
from dedup.passes.stopword import StopwordPass
from dedup.passes.title import TitlePass
from dedup.passes.trigram import TrigramPass
from dedup.passes.url import UrlPass

_ALL: tuple[Pass, ...] = (
    UrlPass(),
    TitlePass(),
    ExactPass(),
    TrigramPass(),
    MinhashPass(),
    StopwordPass(),
    SentencePass(),
)
PASSES: dict[str, Pass] = {each.name: each for each in _ALL}

__all__ = ["PASSES"]
