"""The report of `newsdedup clean`: one HTML file that needs nothing else, to read, to print and to hand on."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import CharField, F, Q, Sum
from django.db.models.functions import MD5, Cast
from django.template.loader import render_to_string
from django.utils import timezone

from articles.versions import versions
from dedup.declarations import Settings
from dedup.detection.runs.scope import Scope
from dedup.detection.types import VerdictKind
from dedup.models import Pair
from dedup.reports import REPORTS
from dedup.reports.formats import presented
from newsdedup_site.cleaning.inputs import Input

# So many pairs of each verdict are shown, to judge the judgement: those called duplicates first.
_SHOWN = {VerdictKind.DUPLICATE: 10, VerdictKind.VERSION: 5, VerdictKind.TEMPLATE: 5}
_TEXTS_SHOWN = 400  # characters


def report_html(inputs: Sequence[Input], imported: Mapping[str, Any], corpus: Mapping[str, Any]) -> str:
    """Return the report. `imported` and `corpus` are the counts of the import and of what was written."""
    overview, methods = (_presented(name) for name in ("overview", "methods"))
    context = {
        "inputs": inputs,
        "imported": imported,
        "corpus": corpus,
        "overview": overview,
        "methods": methods,
        "sure": expected_errors(),
        "pairs": _pairs(),
        "versions": versions(),
        "now": timezone.now(),
        "characters": _TEXTS_SHOWN,
    }
    return render_to_string("cleaning/report.html", context)


def expected_errors() -> dict[str, float]:
    """Return how many pairs are called duplicates, and how many errors the model itself expects of each kind.

    `wrong`: of those pairs, the ones that are none; `missed`: the others that are duplicates.
    """
    proposed = Pair.objects.proposed()
    called = Q(verdict=VerdictKind.DUPLICATE)
    found = proposed.filter(state=Pair.State.UNDECIDED).aggregate(
        wrong=Sum(1 - F("duplicate_probability"), filter=called, default=0.0),
        missed=Sum("duplicate_probability", filter=~called, default=0.0),
    )
    return {"called": proposed.filter(called).count(), "pairs": proposed.count(), **found}


def _presented(name: str) -> Any:
    report = REPORTS[name]
    return presented(report, report.result(Scope(), Settings()))


def _pairs() -> list[Pair]:
    """Return some pairs of each verdict, chosen by chance but the same each time."""
    return [
        pair
        for verdict, number in _SHOWN.items()
        for pair in Pair.objects.proposed()
        .filter(verdict=verdict)
        .select_related("left__newspaper", "right__newspaper")
        .order_by(MD5(Cast("pk", CharField())))[:number]
    ]
