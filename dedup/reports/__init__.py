"""The reports, in the order in which they are listed.

A new report is one file next to this one, one line here, and one test.
"""

from articles.grouping import by_key
from dedup.reports.advice import AdviceReport
from dedup.reports.base import Report
from dedup.reports.exact import ExactReport
from dedup.reports.gaps import GapsReport
from dedup.reports.lineage import LineageReport
from dedup.reports.methods import MethodsReport
from dedup.reports.network import NetworkReport
from dedup.reports.newspapers import NewspapersReport
from dedup.reports.overview import OverviewReport
from dedup.reports.passes import PassesReport
from dedup.reports.policies import PoliciesReport
from dedup.reports.quality import QualityReport
from dedup.reports.same import SameReport
from dedup.reports.sources import SourcesReport
from dedup.reports.terms import TermsReport
from dedup.reports.thresholds import ThresholdsReport

_ALL: tuple[Report, ...] = (
    OverviewReport(),
    ExactReport(),
    NewspapersReport(),
    SourcesReport(),
    NetworkReport(),
    LineageReport(),
    PassesReport(),
    ThresholdsReport(),
    GapsReport(),
    PoliciesReport(),
    SameReport(),
    TermsReport(),
    QualityReport(),
    AdviceReport(),
    MethodsReport(),
)
REPORTS: dict[str, Report] = {report.name: report for report in _ALL}


def pages() -> dict[str, list[Report]]:
    """Return the reports of each page."""
    return by_key((report.page, report) for report in REPORTS.values())
