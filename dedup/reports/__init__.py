"""The reports, in the order in which they are listed.

A new report is one file next to this one, one line here, and one test.
"""

from dedup.reports.advice import AdviceReport
from dedup.reports.base import Report
from dedup.reports.exact import ExactReport
from dedup.reports.gaps import GapsReport
from dedup.reports.newspapers import NewspapersReport
from dedup.reports.policies import PoliciesReport
from dedup.reports.thresholds import ThresholdsReport

_ALL: tuple[Report, ...] = (
    ExactReport(),
    NewspapersReport(),
    ThresholdsReport(),
    GapsReport(),
    PoliciesReport(),
    AdviceReport(),
)
REPORTS: dict[str, Report] = {each.name: each for each in _ALL}

__all__ = ["REPORTS"]
