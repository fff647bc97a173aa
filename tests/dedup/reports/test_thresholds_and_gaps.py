"""The reports `thresholds` and `gaps`: every number counted by hand."""

import datetime
import re
from dataclasses import asdict
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from articles.models import Article
from dedup.detection.passes.minhash import MinhashConfig
from dedup.detection.runs.scope import Scope
from dedup.models import CrowdedArticle, DetectionRun, Evidence, Pair, StoredReport
from dedup.reports.base import ReportError
from dedup.reports.gaps import Example, FarPairs, Gap, Gaps, GapsOptions, GapsReport, held_by
from dedup.reports.scored_pairs import edges_of
from dedup.reports.thresholds import Counts, Subset, Thresholds, ThresholdsOptions, ThresholdsReport
from dedup.research.precision import interval
from dedup.review.answers import decisions
from tests.conftest import StoreArticle
from tests.factories import make_pair, make_run

pytestmark = pytest.mark.django_db
TEXT = "The ferry to Little Skerry sails again from Monday, as the harbour office said in a notice."


def thresholds(scope: Scope | None = None, **options: Any) -> Thresholds:
    return ThresholdsReport().result(scope or Scope(), ThresholdsOptions(**{"pass_": "minhash"} | options))


def gaps(scope: Scope | None = None, **options: Any) -> Gaps:
    return GapsReport().result(scope or Scope(), GapsOptions(**{"pass_": "minhash"} | options))


def minhash_run(*, scope: dict[str, Any] | None = None, **settings: Any) -> DetectionRun:
    """Return a finished run with the minhash pass."""
    config = asdict(MinhashConfig(**{"enabled": True, **settings}))
    newest = max(Article.objects.values_list("revision", flat=True), default=0)
    everything = {"since": None, "until": None, "newspapers": None, "passes": None}
    return make_run(config={"minhash": config}, scope={**everything, **(scope or {})}, counts={"newest": newest})


def test_bands_begin_at_hundredths_that_scores_can_have_and_a_window_holds_a_share_of_the_pairs() -> None:
    assert edges_of(0.82) == [0.95, 0.9, 0.85, 0.82]
    assert edges_of(0.95) == [0.95]
    assert [window.days for window in held_by([0.98, 0.99], [(0, 49), (5, 1)])] == [0, 5]
    assert held_by([0.98], []) == []


@pytest.fixture
def by_hand(store: StoreArticle) -> list[Pair]:
    """Store seven articles of two newspapers, and the pairs that a run of minhash found."""
    post, courier = {"newspaper": "Harbour Post"}, {"newspaper": "Inland Courier"}
    articles = [
        store(TEXT, headline="Ferry sails", date="2026-03-02", time="2026-03-02T08:00:00Z", **post),
        store(TEXT, headline="Ferry sails", date="2026-03-02", time="2026-03-02T09:30:00Z", **courier),
        store(TEXT, headline="Back at sea", date="2026-03-04", time="2026-03-04T08:00:00Z", **courier),
        store(TEXT + " 1", headline="Ferry sails", date="2026-03-12", **post),
        store(TEXT + " 2", headline="A notice", date="2026-06-01", **courier),
        store(TEXT + " 3", headline="", date="2026-06-02", **courier),
        store("Rain from noon.", headline="", date="2026-06-02", **courier),
    ]
    minhash_run()
    scores = {
        (0, 1): 1.0, (0, 2): 1.0, (1, 2): 1.0,
        (0, 3): 0.95, (1, 3): 0.9499999,
        (0, 4): 0.9, (3, 4): 0.8, (4, 5): 0.75, (3, 5): 0.7499,
    }  # fmt: skip
    return [make_pair(articles[one], articles[two], minhash=score) for (one, two), score in scores.items()]


def test_stored_pairs_are_counted_by_band(by_hand: list[Pair], editor: User) -> None:
    for pair, kind in ((by_hand[3], "confirm"), (by_hand[4], "reject"), (by_hand[5], "template")):
        decisions.decide_pair(pair.pk, kind, user=editor)
    undone = decisions.decide_pair(by_hand[7].pk, "reject", user=editor)
    decisions.undo(undone.pk, user=editor)
    # Neither what is stale nor what another pass found.
    stale, other = by_hand[0].left, Article.objects.get(content="Rain from noon.")
    make_pair(stale, other, minhash=0.99)
    Evidence.objects.filter(score=0.99).update(stale=True)
    make_pair(by_hand[1].right, other, trigram=0.97)

    result = thresholds()

    assert (result.run, result.why, result.newer, result.articles) == (by_hand[0].evidence.get().run_id, "", 0, 7)
    assert [(band.lowest, band.highest, band.counts) for band in result.bands] == [
        # pairs, exact, partial, same headline, text, both, new, articles, their headline or text again, decided, right
        (0.95, 1.0, Counts(4, 3, 1, 2, 3, 1, 0, 4, 3, 3, 1, 1)),
        (0.9, 0.95, Counts(2, 0, 2, 1, 0, 0, 1, 1, 0, 0, 2, 0)),
        (0.85, 0.9, Counts()),
        (0.8, 0.85, Counts(1, 0, 1, 0, 0, 0, 1)),
        (0.75, 0.8, Counts(1, 0, 1, 0, 0, 0, 1, 1)),
    ]
    assert [(row.lowest, row.counts.partial, row.counts.articles) for row in result.thresholds] == [
        (0.95, 1, 4), (0.9, 3, 5), (0.85, 3, 5), (0.8, 4, 5), (0.75, 5, 6),
    ]  # fmt: skip
    assert result.thresholds[-1].counts == Counts(8, 3, 5, 3, 3, 1, 3, 6, 3, 3, 3, 1)
    precision = next(table for table in ThresholdsReport().tables(result) if table.name == "precision")
    assert precision.rows[1] == ("0.90–0.95", 2, 2, 0, 0.0, *interval(2, 0))
    assert precision.rows[2] == ("0.85–0.90", 0, 0, 0, None, None, None)
    assert [chart.name for chart in ThresholdsReport().charts(result)] == ["bands", "precision"]
    assert ThresholdsReport().summary(result).startswith(
        "The pass minhash finds 8 pairs with a score of at least 0.75: 3 exact and 5 partial, with 6 of 7 articles "
        "(85.71%).\nPairs that share neither the headline nor the text: 3. These are the pairs of run "
    )  # fmt: skip
    # The later article is of the days, both are of the newspapers, and shares are of the articles of the days.
    since = thresholds(Scope(since=datetime.date(2026, 6, 1)))
    assert [band.counts.pairs for band in since.bands] == [0, 1, 0, 1, 1]
    assert (since.articles, since.thresholds[-1].counts.articles) == (3, 2)
    courier = thresholds(Scope(newspaper_ids=(other.newspaper_id,)))
    assert [band.counts.pairs for band in courier.bands] == [1, 0, 0, 0, 1]


def test_gaps_are_counted_by_band_and_newspaper(by_hand: list[Pair]) -> None:
    result = gaps()

    same, other = result.gaps[:2]
    assert same == Gap(0.95, 1.0, True, 2, 0, 2, [2.4, 4.0, 6.0, 8.0, 9.6], 6.0, 10, 1, 46.5, 0)
    assert other == Gap(0.95, 1.0, False, 2, 1, 1, [2.0] * 5, 2.0, 2, 2, 24.75, 0)
    assert result.gaps[4] == Gap(0.85, 0.9, True, 0, 0, 0, None, None, None, 0, None, 0)
    assert result.far == [
        FarPairs(0.95, 1.0, 3, 0),
        FarPairs(0.9, 0.95, 2, 1),
        FarPairs(0.85, 0.9, 0, 0),
        FarPairs(0.8, 0.85, 1, 1),
        FarPairs(0.75, 0.8, 1, 0),
        FarPairs(0.75, 1.0, 7, 2),
    ]
    assert result.by_days == [(0, 1), (2, 2), (10, 1)]
    assert [(window.share, window.days, window.pairs) for window in result.windows] == [
        (0.5, 2, 3), (0.75, 2, 3), (0.9, 10, 4), (0.95, 10, 4), (0.98, 10, 4), (0.99, 10, 4), (1.0, 10, 4),
    ]  # fmt: skip
    assert result.advised == result.windows[4]
    assert gaps(hold=0.7).advised.days == 2  # type: ignore[union-attr]
    first, second = by_hand[5].left, by_hand[5].right
    assert result.examples[0] == Example(
        0.9,
        91,
        f"/pairs/{by_hand[5].pk}/",
        (first.pk, second.pk),
        (datetime.date(2026, 3, 2), datetime.date(2026, 6, 1)),
        ("Harbour Post", "Inland Courier"),
        ("Ferry sails", "A notice"),
    )
    assert GapsReport().summary(result).startswith(
        "A window of 10 days holds 4 of 4 pairs with scores 0.95–1.00 (100.00%; you asked for 98.00%).\nOf 7 "
        "pairs published on different days, 2 (28.57%) are more than 60 days apart. These are the pairs of run "
    )  # fmt: skip
    assert [chart.name for chart in GapsReport().charts(result)] == ["spread", "window"]


def test_the_pass_is_run_afresh_if_the_last_run_did_not_find_all(store: StoreArticle) -> None:
    def why(report: Any, **options: Any) -> str:
        result = report(**options)
        assert (result.run is None) == bool(result.why)
        return str(result.why)

    assert why(thresholds) == why(gaps) == "no finished run over all articles had this pass"
    store(TEXT, headline="Ferry sails", date="2025-12-31")
    store(TEXT, headline="Ferry sails", date="2026-03-02", newspaper="Inland Courier")
    run = minhash_run(day_window=30, threshold=0.8)
    assert why(thresholds) == ""
    heavy = [ThresholdsReport().heavy_with(ThresholdsOptions("minhash", lowest)) for lowest in (0.0, 0.7)]
    assert heavy == [50_000, 500]
    assert why(thresholds, lowest=0.7) == f"run {run.pk} found pairs from 0.8 on"
    assert why(gaps) == f"run {run.pk} compared articles up to 30 days apart"
    # With the settings of that run, apart from what is asked for.
    assert [(row.later, row.far) for row in gaps(lowest=0.8).far][-1] == (1, 1)
    assert gaps(lowest=0.8).examples[0].address.startswith("/compare/?left=")
    assert thresholds(lowest=0.7).thresholds[-1].counts.pairs == 0
    run = minhash_run(scope={"rules": [{}]})
    assert why(thresholds) == f"run {run.pk} had rules for some newspapers"
    minhash_run()
    assert why(gaps) == ""
    part = minhash_run(scope={"since": "2026-03-01"}, shingle=7)
    assert why(gaps) == "a later run of some articles, or an unfinished one, had other settings"
    part.delete()
    last = make_run(config={"minhash": asdict(MinhashConfig(retired=True))}, scope={"passes": None})
    assert why(gaps) == f"run {last.pk} has hidden what earlier runs found"
    last.delete()
    hub = Article.objects.latest("pk")
    CrowdedArticle.objects.create(article=hub, pass_name="minhash", near=60, run=minhash_run())
    store()
    result = thresholds()
    assert (result.newer, result.dense_articles) == (1, 1)
    assert ThresholdsReport().summary(result).endswith(
        "Articles that came or changed after it, and are not compared yet: 1. "
        "Articles in dense groups, of which only some pairs are kept: 1."
    )  # fmt: skip
    assert not Pair.objects.exists()


def test_refusals_name_the_value_and_the_remedy(store: StoreArticle, editor_client: Client) -> None:
    refused = r"The pass trigram compares .* window .* Choose .*: url, post, title, exact, numbers, minhash, sentence"
    with pytest.raises(ReportError, match=r"lowest is 0\.1; .* below 0\.3: choose 0\.3 to 0\.95, or 0"):
        thresholds(lowest=0.1)
    with pytest.raises(CommandError, match=refused):
        call_command("report", "gaps", "--pass", "trigram")
    page = editor_client.get("/reports/gaps/?pass=trigram")
    assert (page.status_code, bool(re.search(refused, page.content.decode()))) == (400, True)
    posted = editor_client.post("/reports/gaps/count/?pass=trigram")
    assert (posted.status_code, StoredReport.objects.exists()) == (400, False)


def test_one_article_has_no_pairs_and_an_empty_archive_no_articles(store: StoreArticle) -> None:
    assert ThresholdsReport().summary(thresholds()) == GapsReport().summary(gaps()) == "There are no articles to count."
    store()
    result = thresholds(subset_check=True)
    bands = ((0.95, 0.9), (0.9, 0.85), (0.85, 0.8), (0.8, 0.75))
    assert result.subset == [Subset(*band, 0, 0, 0, 0) for band in bands]
    found = "The pass minhash finds 0 pairs with a score of at least 0.75: 0 exact and 0 partial, with 0 of 1 articles"
    assert ThresholdsReport().summary(result).startswith(found)
    assert "so no window can be advised" in GapsReport().summary(gaps())
    assert GapsReport().charts(gaps()) == ThresholdsReport().charts(result) == []
    # A pass whose pairs all have the same score has one band, and nothing to check.
    assert [band.lowest for band in thresholds(pass_="exact", subset_check=True).bands] == [0.95]


def test_pairs_that_a_lower_threshold_leaves_out_of_a_dense_group_are_not_missing(store: StoreArticle) -> None:
    more = " Passengers with bicycles should come to the northern pier half an hour earlier than usual."
    for number, ending in enumerate(("abcd 1", "abcd 2", "abcd 3", "wxyz 1", "wxyz 2", "wxyz 3")):
        store(f"{TEXT}{more} {ending}", date=f"2026-03-0{number + 1}")
    # Two of the same letters reach .95; any two reach .90, so that all six are hubs.
    minhash_run(dense_from=4, kept_pairs=1, threshold=0.85)

    assert thresholds(subset_check=True).subset == [
        Subset(0.95, 0.9, pairs=6, missing=0, dense=2, only_lower=0),
        Subset(0.9, 0.85, pairs=5, missing=0, dense=0, only_lower=0),
    ]
    assert {row.missing for row in thresholds(pass_="trigram", subset_check=True).subset} == {0}
