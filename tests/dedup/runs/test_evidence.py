"""What a run writes of the pairs that passes propose: blocks, evidence and its end, best scores, facts of articles."""

import datetime
from typing import Any

import pytest
from django.db import connection, transaction

from articles.models import Article
from articles.storage.ingest import newest_revision
from dedup.detection.clustering.rebuild import changed_since_rebuilt, update_clusters
from dedup.detection.runs import evidence
from dedup.detection.runs.evidence import (
    forget_hubs,
    mark_stale,
    store_candidates,
    store_hubs,
    update_article_facts,
    update_best_scores,
    write_block,
)
from dedup.detection.types import Candidate, Tally, Window
from dedup.models import ChangedArticle, CrowdedArticle, DetectionRun, Evidence, Pair, RunBlock, Watermark
from tests.conftest import StoreArticle
from tests.factories import make_pair, make_run

pytestmark = pytest.mark.django_db


def day(number: int) -> datetime.date:
    return datetime.date(2026, 3, number)


FOURTH = day(4)


@pytest.fixture
def articles(store: StoreArticle) -> list[Article]:
    """Return an article of 4 March and two of 2 March, the first two of different newspapers."""
    return [store(date="2026-03-04"), store(date="2026-03-02", newspaper="Coast Telegraph"), store(date="2026-03-02")]


def evidence_rows() -> list[tuple[Any, ...]]:
    columns = ("pair__left", "pair__right", "pass_name", "score", "details", "run", "stale")
    return list(Evidence.objects.order_by("pk").values_list(*columns))


def pair_rows() -> list[tuple[Any, ...]]:
    columns = ("left", "right", "state", "implied", "best_score", "days_apart", "same_newspaper")
    return list(Pair.objects.order_by("left_id", "right_id").values_list(*columns))


# ---- a block ----


def test_a_block_is_stored_with_its_mark_and_counts_what_the_pass_did(articles: list[Article]) -> None:
    a, b, c = (article.pk for article in articles)
    run = make_run()
    found = [Candidate(a, b, "title", 0.75, {"words": "Fähre", "shared": 3}), Candidate(a, c, "title", 1.0)]
    tally = Tally(candidates=7, verified=5, hubs={b: 60})
    written = write_block(run.pk, "title", iter(found), Window(day(2), day(4)), tally)

    assert written.pairs == 2
    assert min(written.finding_seconds, written.storing_seconds) >= 0
    assert pair_rows() == [(a, b, "undecided", False, 0.75, 2, False), (a, c, "undecided", False, 1.0, 2, True)]
    assert evidence_rows() == [
        (a, b, "title", 0.75, {"words": "Fähre", "shared": 3}, run.pk, False),
        (a, c, "title", 1.0, {}, run.pk, False),
    ]
    block = RunBlock.objects.get()
    assert (block.run, block.pass_name, block.first_day, block.last_day) == (run, "title", day(2), day(4))
    assert (block.candidates, block.verified, block.pairs) == (7, 5, 2)
    assert 0 <= block.seconds < 60
    assert list(CrowdedArticle.objects.values_list("article", "pass_name", "near", "run")) == [(b, "title", 60, run.pk)]


def test_a_block_that_is_interrupted_stores_nothing(articles: list[Article]) -> None:
    def found() -> Any:
        yield Candidate(articles[0].pk, articles[1].pk, "title", 0.75)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_block(make_run().pk, "title", found(), Window(day(2), day(4)), Tally())
    assert not Pair.objects.exists()
    assert not RunBlock.objects.exists()


def test_a_block_without_pairs_has_its_mark(articles: list[Article]) -> None:
    write_block(make_run().pk, "title", [], Window(day(2), day(4)), Tally(candidates=3))
    assert list(RunBlock.objects.values_list("candidates", "verified", "pairs")) == [(3, 0, 0)]


def test_what_is_found_again_renews_its_evidence_and_only_raises_the_score_of_the_pair(
    articles: list[Article], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "_COPIED_AT_ONCE", 1)
    a, b, c = (article.pk for article in articles)
    first, second = make_run(), make_run()
    with transaction.atomic():
        store_candidates(first.pk, [Candidate(a, b, "title", 0.8, {"of": 1}), Candidate(a, c, "title", 0.5, {"of": 1})])
    Evidence.objects.update(stale=True)
    with transaction.atomic():
        again = [
            Candidate(a, b, "title", 0.6, {"of": 2}),
            Candidate(a, c, "title", 0.9, {"of": 2}),
            Candidate(b, c, "exact", 1.0),
        ]
        assert store_candidates(second.pk, again)[0] == 3
    assert [(*row[:2], row[4]) for row in pair_rows()] == [(a, b, 0.8), (a, c, 0.9), (b, c, 1.0)]
    assert evidence_rows() == [
        (a, b, "title", 0.6, {"of": 2}, second.pk, False),
        (a, c, "title", 0.9, {"of": 2}, second.pk, False),
        (b, c, "exact", 1.0, {}, second.pk, False),
    ]
    with transaction.atomic():
        assert store_candidates(second.pk, [])[0] == 0


def test_a_pair_that_is_proposed_again_is_noted_for_the_clusters(articles: list[Article]) -> None:
    a, b, c = (article.pk for article in articles)
    for ends in ((0, 1), (0, 2), (1, 2)):
        make_pair(articles[ends[0]], articles[ends[1]], trigram=0.5)
    Pair.objects.filter(left=a, right=b).update(best_score=0)
    Pair.objects.filter(left=b).update(best_score=0, verdict="")  # not judged yet: the verdict will be noted
    found = [Candidate(a, b, "title", 0.5), Candidate(a, c, "title", 0.6), Candidate(b, c, "title", 0.6)]
    with transaction.atomic():
        store_candidates(make_run().pk, found)
        assert not ChangedArticle.objects.exists()  # no clusters were built that could have changed
        transaction.set_rollback(True)
    update_clusters(only_changed=False)
    with transaction.atomic():
        store_candidates(make_run().pk, found)
    assert changed_since_rebuilt() == {a, b}


# ---- which evidence is stale at the end ----


@pytest.fixture
def earlier(articles: list[Article]) -> DetectionRun:
    """Return a run with evidence of 0.7 for the first two articles, which are two days apart."""
    run = make_run()
    pair = make_pair(articles[0], articles[1], trigram=0.7)
    pair.evidence.update(run=run)
    return run


def covered(**values: Any) -> dict[str, Any]:
    """Return what a run covered: everything, but with settings that say nothing of earlier runs."""
    everything = {"since": None, "until": None, "newspaper_ids": None, "newer_than": None}
    judged = {"same_runs": [], "comparable_runs": [], "hides": False, "lowest_score": 0.5, "most_days_apart": 3}
    own: dict[str, Any] = {"firsts": [], "seconds": [], "lowest_scores": [], "most_days": [], "hiding": []}
    return everything | judged | own | values


def is_marked(run: DetectionRun, by: str = "trigram", **values: Any) -> bool:
    """Return whether the evidence would be marked as stale; nothing is stored."""
    with transaction.atomic():
        pairs = mark_stale(run, by, covered(**values))
        stale = list(Evidence.objects.filter(stale=True).values_list("pair", flat=True))
        transaction.set_rollback(True)
    assert pairs == stale
    return bool(pairs)


def test_evidence_is_stale_if_the_settings_of_the_run_would_have_found_it(
    articles: list[Article], earlier: DetectionRun
) -> None:
    run = make_run()
    one, other = sorted(article.newspaper_id for article in articles[:2])
    same, comparable = {"same_runs": [earlier.pk]}, {"comparable_runs": [earlier.pk]}

    def own(lowest: float, days: float, *, hiding: bool = False, of: tuple[int, int] = (one, other)) -> dict[str, Any]:
        bounds = {"lowest_scores": [lowest], "most_days": [days], "hiding": [hiding]}
        return {"firsts": [of[0]], "seconds": [of[1]], **bounds}

    cases = [
        ({}, False),
        (same, True),
        (same | {"lowest_score": 0.9, "most_days_apart": 0}, True),
        ({"same_runs": [run.pk], "comparable_runs": [run.pk]}, False),
        ({"hides": True}, True),
        (comparable, True),
        (comparable | {"lowest_score": 0.7}, True),
        (comparable | {"lowest_score": 0.71}, False),
        (comparable | {"most_days_apart": 2}, True),
        (comparable | {"most_days_apart": 1}, False),
        # The bounds of two newspapers count instead of the general ones.
        (comparable | own(0.8, 3), False),
        (comparable | own(0.7, 3) | {"lowest_score": 0.9}, True),
        (comparable | own(0.5, 1), False),
        (comparable | own(0.5, 2) | {"most_days_apart": 1}, True),
        (comparable | own(0.8, 3, of=(one, one)), True),
        (comparable | own(0.8, 3, of=(other, one)), True),
        (own(0.5, 3, hiding=True), True),
        (own(0.5, 3) | {"hides": True}, False),
    ]
    assert [is_marked(run, **values) for values, _ in cases] == [stale for _, stale in cases]
    assert not is_marked(run, "title", **same)
    assert not is_marked(earlier, **same)  # it has found this evidence itself
    Evidence.objects.update(stale=True)
    assert mark_stale(run, "trigram", covered(**same)) == []


def test_evidence_is_stale_only_inside_what_the_run_covered(articles: list[Article], earlier: DetectionRun) -> None:
    run = make_run()
    one, other = (article.newspaper_id for article in articles[:2])
    revision = max(article.revision for article in articles[:2])
    same = {"same_runs": [earlier.pk]}
    cases = [
        # The day of the later article counts.
        ({"since": day(4)}, True),
        ({"since": day(5)}, False),
        ({"until": day(4)}, True),
        ({"until": day(3)}, False),
        ({"since": day(4), "until": day(4)}, True),
        ({"newspaper_ids": [one, other]}, True),
        ({"newspaper_ids": [one]}, False),
        ({"newspaper_ids": [other]}, False),
        ({"up_to": revision}, True),
        ({"up_to": revision - 1}, False),
        ({"newer_than": revision - 1}, True),
        ({"newer_than": revision}, False),
    ]
    assert [is_marked(run, **same, **values) for values, _ in cases] == [stale for _, stale in cases]


def test_inside_a_dense_group_only_the_same_settings_keep_the_same_pairs(
    articles: list[Article], earlier: DetectionRun
) -> None:
    one, other, _ = articles
    newest = max(article.revision for article in articles)
    same, comparable = {"same_runs": [earlier.pk]}, {"comparable_runs": [earlier.pk]}

    def marked(*hubs: Article, in_block_of: datetime.date = FOURTH, by: str = "trigram", **values: Any) -> bool:
        with transaction.atomic():
            run = make_run()
            store_hubs(run.pk, by, {article.pk: 60 for article in hubs}, only_new=False)
            days = {"first_day": in_block_of, "last_day": in_block_of}
            RunBlock.objects.create(run=run, pass_name=by, pairs=0, seconds=0, **days)
            found = is_marked(run, **values)
            transaction.set_rollback(True)
        return found

    assert not marked(one, other, **comparable)
    assert marked(one, other, **same)
    assert marked(one, **comparable)
    assert marked(other, **comparable)
    assert marked(one, other, by="title", **comparable)
    # A run of new articles renews the pairs of a group in whose block it was, also those of its old articles.
    assert marked(one, other, newer_than=newest, **same)
    assert not marked(one, newer_than=newest, **same)
    assert not marked(other, newer_than=newest, **same)
    assert not marked(one, other, by="title", newer_than=newest, **same)
    assert not marked(one, other, in_block_of=day(3), newer_than=newest, **same)
    assert not marked(one, other, in_block_of=day(5), newer_than=newest, **same)


def test_marking_returns_the_pairs_and_adds_to_the_count_of_the_run(
    articles: list[Article], earlier: DetectionRun
) -> None:
    second = make_pair(articles[0], articles[2], trigram=0.9)
    second.evidence.update(run=earlier)
    kept = make_pair(articles[1], articles[2], trigram=0.9)
    run = make_run(counts={"stale": 4, "pairs": 9})
    kept.evidence.update(run=run)
    pairs = mark_stale(run, "trigram", covered(same_runs=[earlier.pk]))
    assert set(pairs) == {Pair.objects.get(left=articles[0].pk, right=articles[1].pk).pk, second.pk}
    run.refresh_from_db()
    assert run.counts == {"stale": 6, "pairs": 9}
    assert list(Evidence.objects.filter(stale=False).values_list("pair", flat=True)) == [kept.pk]
    fresh = make_run(counts={})
    assert mark_stale(fresh, "trigram", covered()) == []
    assert DetectionRun.objects.get(pk=fresh.pk).counts == {"stale": 0}


# ---- best scores ----


def test_the_best_score_is_that_of_the_best_evidence_that_is_not_stale(articles: list[Article]) -> None:
    a, b, c = articles
    both, lost, other = make_pair(a, b, trigram=0.7, title=0.9), make_pair(a, c, trigram=0.8), make_pair(b, c)
    Evidence.objects.filter(pair=both, pass_name="title").update(stale=True)
    Evidence.objects.filter(pair=lost).update(stale=True)
    Pair.objects.filter(pk=other.pk).update(best_score=0.4)
    scores = lambda: [Pair.objects.get(pk=pair.pk).best_score for pair in (both, lost, other)]  # noqa: E731
    with transaction.atomic():
        update_best_scores()
        assert (scores(), ChangedArticle.objects.exists()) == ([0.7, 0.0, 0.0], False)  # no clusters were built yet
        transaction.set_rollback(True)
    update_clusters(only_changed=False)
    run = make_run()
    update_best_scores(run)
    assert scores() == [0.9, 0.8, 0.4]  # it has found nothing
    update_best_scores(run, [lost.pk])
    assert scores() == [0.9, 0.0, 0.4]
    assert changed_since_rebuilt() == {a.pk, c.pk}
    Evidence.objects.filter(pair=both, pass_name="trigram").update(run=run)
    update_best_scores(run)
    assert scores() == [0.7, 0.0, 0.4]
    assert changed_since_rebuilt() == {a.pk, c.pk}  # a pair that is still proposed is still there
    update_best_scores()
    assert scores() == [0.7, 0.0, 0.0]
    assert changed_since_rebuilt() == {a.pk, b.pk, c.pk}


# ---- what a pair says of its articles ----


def test_days_and_newspapers_are_corrected_of_articles_that_have_changed(articles: list[Article]) -> None:
    a, b, c = articles
    first, second, third = make_pair(a, b), make_pair(a, c), make_pair(b, c)
    facts = lambda: [  # noqa: E731
        (pair.days_apart, pair.same_newspaper) for pair in Pair.objects.order_by("left_id", "right_id")
    ]
    assert facts() == [(2, False), (2, True), (0, False)]
    Pair.objects.filter(pk__in=(first.pk, third.pk)).update(days_apart=9)
    update_article_facts()  # for the first time: all
    assert facts() == [(2, False), (2, True), (0, False)]
    assert Watermark.objects.get(name="article facts").revision == newest_revision()

    Pair.objects.filter(pk=first.pk).update(days_apart=9)
    update_article_facts()
    assert facts()[0] == (9, False)  # neither article has changed
    Article.objects.filter(pk=c.pk).update(date=day(9), newspaper=b.newspaper_id)
    update_article_facts()
    assert facts() == [(9, False), (5, False), (7, True)]
    Article.objects.filter(pk=a.pk).update(date=day(1))
    update_article_facts()
    assert facts() == [(1, False), (8, False), (7, True)]
    assert Watermark.objects.get(name="article facts").revision == newest_revision()
    assert second.pk


# ---- hubs ----


def test_a_run_forgets_hubs_unless_evidence_of_an_earlier_run_is_left(articles: list[Article]) -> None:
    a, b, c = articles
    old, run = make_run(), make_run()
    store_hubs(old.pk, "trigram", {article.pk: 60 for article in articles}, only_new=False)
    store_hubs(old.pk, "title", {a.pk: 60}, only_new=False)
    pair = make_pair(a, b, trigram=0.9, title=0.9)
    pair.evidence.update(run=old)

    def forgotten(**values: bool) -> tuple[int, list[int]]:
        with transaction.atomic():
            number = forget_hubs(run, "trigram", only_new=False, **values)
            left = CrowdedArticle.objects.filter(pass_name="trigram").order_by("article")
            found = number, list(left.values_list("article", flat=True))
            assert CrowdedArticle.objects.filter(pass_name="title").exists()
            transaction.set_rollback(True)
        return found

    assert forget_hubs(run, "trigram", only_new=True) == 0
    assert CrowdedArticle.objects.count() == 4
    assert forgotten() == (1, [a.pk, b.pk])
    store_hubs(run.pk, "trigram", {c.pk: 51}, only_new=False)
    assert CrowdedArticle.objects.get(article=c, pass_name="trigram").near == 51
    assert forgotten() == (0, [a.pk, b.pk, c.pk])
    pair.evidence.filter(pass_name="trigram").update(run=run)  # it found the pair again, and no hubs
    assert forgotten() == (2, [c.pk])
    pair.evidence.filter(pass_name="trigram").update(run=old, stale=True)
    assert forgotten() == (2, [c.pk])


def test_of_the_counts_of_neighbours_the_highest_of_one_run_or_of_new_articles_is_kept(articles: list[Article]) -> None:
    article = articles[0].pk
    first, second = make_run(), make_run()

    def stored_after(run: DetectionRun, number: int, *, only_new: bool) -> tuple[int, int]:
        store_hubs(run.pk, "trigram", {article: number}, only_new=only_new)
        row = CrowdedArticle.objects.get()
        return row.near, row.run_id

    assert stored_after(first, 60, only_new=False) == (60, first.pk)
    assert stored_after(first, 55, only_new=False) == (60, first.pk)
    assert stored_after(first, 65, only_new=False) == (65, first.pk)
    assert stored_after(second, 52, only_new=True) == (65, second.pk)
    assert stored_after(first, 51, only_new=False) == (51, first.pk)
    store_hubs(first.pk, "trigram", {}, only_new=False)
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('found_hubs') IS NULL")
        assert cursor.fetchone() == (True,)
