"""The detection passes, in the order in which a run executes them.

To add a pass, write one file in this package, one line here, and one test file, tests/dedup/passes/test_NAME.py,
whose `alike` the contract test uses. Then run `script/write-docs` to add it to the docs.
"""

from dedup.detection.passes.base import Pass
from dedup.detection.passes.containment import ContainmentPass
from dedup.detection.passes.exact import ExactPass
from dedup.detection.passes.minhash import MinhashPass
from dedup.detection.passes.numbers import NumbersPass
from dedup.detection.passes.post import PostPass
from dedup.detection.passes.sentence import SentencePass
from dedup.detection.passes.stopword import StopwordPass
from dedup.detection.passes.title import TitlePass
from dedup.detection.passes.trigram import TrigramPass
from dedup.detection.passes.url import UrlPass

_ALL: tuple[Pass, ...] = (
    UrlPass(),
    PostPass(),
    TitlePass(),
    ExactPass(),
    NumbersPass(),
    TrigramPass(),
    MinhashPass(),
    StopwordPass(),
    SentencePass(),
    ContainmentPass(),
)
PASSES: dict[str, Pass] = {detection_pass.name: detection_pass for detection_pass in _ALL}
