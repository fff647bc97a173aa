"""Verdicts as a run stores them: of every proposed pair, again when anything they rest on changes, and never else."""

import dataclasses
import json
from itertools import combinations
from string import ascii_lowercase

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Length
from django.utils import timezone

from articles.boilerplate.mode import Mode
from articles.models import Article
from dedup.detection.judging.judge import JudgedRow
from dedup.detection.runs import judging
from dedup.detection.runs.headlines import update_series
from dedup.detection.runs.judging import (
    features_of_pairs,
    judge_now,
    judged_now,
    model_in_use,
    store_rows,
    terms_in_force,
)
from dedup.detection.runs.outdated_verdicts import outdated_verdicts
from dedup.detection.types import SameAs
from dedup.detection.verdicts.model import default_model, dump_model
from dedup.detection.verdicts.reasons import GROUP_RULE_REASON, RULE_REASON, leftover
from dedup.models import Cluster, DenseGroup, FittedModel, HeadlineForm, NewspaperMonth, Pair, Profile, Series
from dedup.review.queries.series_and_groups import series_of_article
from dedup.review.rules.rules import end_rule, make_group_rule, make_rule
from tests.dedup.runs.running import find_duplicates
from tests.dense import write_group
from tests.factories import make_pair

pytestmark = pytest.mark.django_db

STORY = (
    "The night ferry from Port Selby to Carrack was cancelled on Friday after a pump failed, leaving 120 passengers "
    "on the quay. The harbour master, Edda Lorne, said that divers had found a rope around the propeller as well. "
    "Passengers were taken to the seamen's mission, where volunteers made soup. The company promised to pay for hotel "
    "rooms and offered vouchers for the morning crossing. Two school classes on the way to a choir festival missed the "
    "opening concert. The ferry will sail again on Sunday if the new pump arrives from Inverlea in time."
)
OTHER = (
    "A travelling exhibition of two hundred glass negatives opens in the old customs house at Carrack, where visitors "
    "can look at the fairs, regattas and floods of a century ago. Schools may borrow the magic lantern for a week. The "
    "collector found the plates under the floor of a bakery in 1998."
)


def rates(day: int) -> tuple[str, str]:
    """Return the daily report of an invented market: the same form, other numbers."""
    text = (
        f"The crown closed at {700 + day * 3 % 17}.{day}1 to the euro on the market of Port Selby, dealers said. Bonds "
        f"of the town yielded {4 + day % 5}.{day % 10}5 percent at the end of the day. About {1000 + 37 * day} lots "
        "changed hands. The market will open again at nine on the next working day."
    )
    return text, f"Crown closes at {700 + day * 3 % 17}.{day}1 to the euro"


@pytest.fixture
def corpus(store) -> dict[str, list[int]]:
    """A story in three papers, one of them cropped; ten daily market reports; something else."""
    story = [
        store(STORY, newspaper="Harbour Post", headline="Night ferry cancelled, 120 passengers stranded"),
        store(f"{STORY} (Coast Agency)", newspaper="Inland Courier", headline="Ferry cancelled: 120 stranded"),
        store(STORY[:420], newspaper="Third Paper", date="2026-03-03", headline="Ferry fails, 120 stranded on quay"),
    ]
    daily = [rates(day) for day in range(1, 11)]
    market = [
        store(text, date=f"2026-03-{day:02}", headline=headline) for day, (text, headline) in enumerate(daily, start=1)
    ]
    store(OTHER, headline="Glass negatives on show")
    return {"story": [article.pk for article in story], "market": [article.pk for article in market]}


def anna() -> User:
    return User.objects.get_or_create(username="anna")[0]


def note_rule(series: Series) -> None:
    """Make a rule of a series, and leave what follows to the next run."""
    Series.objects.filter(pk=series.pk).update(ruled_by=anna(), ruled_at=timezone.now())


def verdicts(ids: list[int]) -> set[str]:
    return set(Pair.objects.proposed().among(ids).values_list("verdict", flat=True))


def test_copies_cluster_and_a_daily_report_does_not(corpus) -> None:
    summary = find_duplicates()
    assert verdicts(corpus["story"]) == {"duplicate"}
    assert Pair.objects.filter(left__in=corpus["market"]).count() >= 9
    assert verdicts(corpus["market"]) == {"template"}
    [cluster] = Cluster.objects.all()
    assert list(cluster.memberships.values_list("article", flat=True)) == corpus["story"]
    assert cluster.lowest_score == min(
        sorted(Pair.objects.filter(verdict="duplicate").values_list("duplicate_probability", flat=True))[1:]
    )
    counted = summary["verdicts"]
    assert counted["duplicate"] == 3
    assert counted["template"] == Pair.objects.filter(left__in=corpus["market"]).count()
    pair = Pair.objects.get(left=corpus["market"][0], right=corpus["market"][1])
    assert (pair.verdict, pair.joins) == ("template", False)
    assert pair.probability > 0.5 > pair.duplicate_probability
    assert "Published 1 day apart by the same newspaper." in pair.reasons
    assert any(reason.endswith("replaced: 703.11 → 706.21, 5.15 → 6.25, 1037 → 1074.") for reason in pair.reasons)


@pytest.mark.parametrize("longer_first", [True, False])
def test_a_verdict_is_stored_with_how_much_of_each_article_the_other_has(store, longer_first) -> None:
    crop = STORY[: STORY.index(" Two school classes")]
    texts = [STORY, crop] if longer_first else [crop, STORY]
    for number, text in enumerate(texts):
        store(text, newspaper=f"Paper {number}", headline="Night ferry cancelled, 120 passengers stranded")
    find_duplicates()
    pair = Pair.objects.get()
    shares = (65 / 95, 1.0)  # of the words: the crop has 65 of them
    assert (pair.left_matched, pair.right_matched) == pytest.approx(shares if longer_first else shares[::-1])


def test_nothing_is_judged_again_while_nothing_changes_nearby(corpus, store) -> None:
    find_duplicates()
    assert {row.month.isoformat() for row in NewspaperMonth.objects.all()} == {"2026-03-01"}
    Pair.objects.update(reasons=["kept"])
    for _ in range(2):
        find_duplicates()
        assert set(map(tuple, Pair.objects.values_list("reasons", flat=True))) == {("kept",)}
        store("Something else entirely, about bees and their keepers on the hill.", date="2026-07-20")
    assert outdated_verdicts(terms_in_force()).pairs == 0


@pytest.mark.parametrize("change", ["article near", "model", "rule", "pairs"])
def test_what_a_verdict_rests_on_has_it_given_anew(corpus, store, change) -> None:
    find_duplicates()
    Pair.objects.update(reasons=["kept"])
    if change == "article near":
        store("Something else entirely, about bees and their keepers on the hill.", date="2026-04-20")
    elif change == "model":
        FittedModel.objects.create(
            content=dump_model(default_model()).replace('"threshold": 0.5', '"threshold": 0.6'),
            decisions=9,
            in_use=True,
        )
    elif change == "rule":
        note_rule(Series.objects.get())
    else:
        store(STORY, newspaper="Fourth Paper")
    find_duplicates()
    kept = Pair.objects.filter(reasons=["kept"])
    market, near = Pair.objects.among(corpus["market"]), Pair.objects.among([*corpus["market"], corpus["story"][0]])
    # Only what rests on the change: pairs of the newspaper with the new article, or of the series with the rule.
    outdated = {"article near": near, "rule": market, "pairs": Pair.objects.none()}.get(change, Pair.objects.all())
    assert {pair.pk for pair in kept}.isdisjoint(pair.pk for pair in outdated)
    assert kept.count() == {"article near": 1, "rule": 3, "pairs": 3 + market.count()}.get(change, 0)


@pytest.mark.parametrize("before", ["2026-02", "2026-03"])
def test_later_months_have_a_say_where_a_newspaper_is_young(corpus, store, before) -> None:
    for day, letter in enumerate(ascii_lowercase, start=1):
        text = " ".join(letter * length for length in range(3, 9))
        store(text, date=f"{before}-{day:02}", headline=text)
    find_duplicates()
    month = NewspaperMonth.objects.get(newspaper__name="Harbour Post")
    assert (str(month.month), month.young) == ("2026-03-01", before == "2026-03")
    store(rates(12)[0], date="2026-04-12", headline=rates(12)[1])
    update_series()
    of_newspaper = 0 if before == "2026-02" else Pair.objects.count() - 1
    assert outdated_verdicts(terms_in_force()).pairs == of_newspaper
    store("A ship of March.", date="2026-03-31")
    update_series()
    assert outdated_verdicts(terms_in_force()).pairs == Pair.objects.count() - 1


def test_a_run_without_verdicts_leaves_them_to_the_next(corpus) -> None:
    find_duplicates("--no-verdicts")
    assert verdicts(corpus["story"]) == {""}
    assert not Cluster.objects.exists()
    find_duplicates()
    assert verdicts(corpus["story"]) == {"duplicate"}
    assert Cluster.objects.get().size == 3


def test_updates_join_where_the_profile_says_so(store) -> None:
    store(STORY, headline="Night ferry cancelled")
    added = (
        " On Saturday the company said that the pump had come by air. Engineers worked through the night in the rain. "
        "The mayor of Carrack called for a second ferry before summer, and the ministry sent an inspector, who found "
        "three more faults. The choir festival moved its closing concert to the quay."
    )
    store(
        STORY[230:] + added + OTHER,
        newspaper="Inland Courier",
        headline="Ferry to sail on Sunday, choir sings on the quay",
    )
    find_duplicates()
    pair = Pair.objects.get()
    Pair.objects.update(verdict="version", relation="update", probability=0.8, duplicate_probability=0.1)
    for same_as in SameAs:
        Profile.objects.update(same_as=same_as)
        find_duplicates()
        pair.refresh_from_db()
        assert pair.joins is (same_as is SameAs.UPDATES)  # the pair is not judged again


def test_headlines_of_one_form_on_five_days_are_a_series(corpus, store) -> None:
    find_duplicates()
    [series] = Series.objects.all()
    assert (series.form, series.articles, series.days) == ("crown closes at # to the euro", 10, 10)
    assert series.headline == rates(10)[1]
    assert (str(series.first_day), str(series.last_day)) == ("2026-03-01", "2026-03-10")
    assert HeadlineForm.objects.count() == 14
    late = store(rates(12)[0], date="2026-03-12", headline=rates(12)[1])
    find_duplicates()
    series.refresh_from_db()
    assert (series.articles, series.headline, str(series.last_day)) == (11, rates(12)[1], "2026-03-12")
    assert series_of_article(late) == series


def test_a_rule_keeps_the_articles_of_a_series_apart_whatever_their_texts(store) -> None:
    text = (
        "Rain is expected on the western coast from noon, with gusts that may reach sixty knots at sea by the evening."
    )
    for day in range(2, 9):
        store(text, date=f"2026-03-0{day}", headline=f"Forecast for March {day}")
    find_duplicates()
    before = list(Pair.objects.values_list("verdict", flat=True))
    note_rule(series := Series.objects.get())
    find_duplicates()
    assert set(Pair.objects.values_list("verdict", "probability", "joins")) == {("template", 1.0, False)}
    assert {reasons[0] for reasons in Pair.objects.values_list("reasons", flat=True)} == {RULE_REASON}
    assert not Cluster.objects.exists()
    Series.objects.update(ruled_by=None, ruled_at=None)
    find_duplicates()
    assert list(Pair.objects.values_list("verdict", flat=True)) == before
    # A rule that is ended before the next run leaves nothing either.
    make_rule(series.pk, user=anna())
    end_rule(series.pk, user=anna())
    assert set(Pair.objects.values_list("verdict", flat=True)) == {"template"} != set(before)
    find_duplicates()
    assert list(Pair.objects.values_list("verdict", flat=True)) == before


def test_a_rule_keeps_the_articles_of_a_dense_group_apart_whatever_their_texts(store) -> None:
    text = "Rain is expected on the western coast from noon, with gusts that may reach sixty knots at sea by night."
    articles = [store(text, newspaper=f"Paper {number}") for number in range(4)]
    find_duplicates()
    before = list(Pair.objects.order_by("pk").values_list("verdict", flat=True))
    assert set(before) == {"duplicate"}
    write_group(*articles[:3])
    make_group_rule(DenseGroup.objects.get().pk, user=anna())
    find_duplicates()
    ruled = Pair.objects.among([article.pk for article in articles[:3]])
    assert set(ruled.values_list("verdict", "probability", "joins")) == {("template", 1.0, False)}
    assert {reasons[0] for reasons in ruled.values_list("reasons", flat=True)} == {GROUP_RULE_REASON}
    assert set(Pair.objects.exclude(pk__in=ruled).values_list("verdict", flat=True)) == {"duplicate"}
    DenseGroup.objects.update(ruled_by=None, ruled_at=None)
    find_duplicates()
    assert list(Pair.objects.order_by("pk").values_list("verdict", flat=True)) == before
    assert not DenseGroup.objects.exists()


def test_a_series_that_is_no_more_is_forgotten_unless_it_is_a_rule(corpus) -> None:
    find_duplicates()
    kept = Series.objects.get()
    gone, ruled = (
        Series.objects.create(
            newspaper=kept.newspaper, form=form, articles=9, days=9, first_day="2026-01-01", last_day="2026-02-01"
        )
        for form in ("no more", "ruled")
    )
    note_rule(ruled)
    find_duplicates()
    assert set(Series.objects.values_list("pk", flat=True)) == {kept.pk, ruled.pk}
    assert gone.pk not in {kept.pk, ruled.pk}


def test_a_series_follows_its_articles_to_other_headlines_and_newspapers(corpus, store) -> None:
    find_duplicates()
    [series] = Series.objects.all()
    ids = corpus["market"]
    Article.objects.filter(pk__in=ids[:3]).update(headline="Krona closes", normalized_title="krona closes")
    find_duplicates()
    series.refresh_from_db()
    assert (series.articles, series.days, str(series.first_day)) == (7, 7, "2026-03-04")
    other = store("A text of another newspaper.", newspaper="Other", headline="Anything").newspaper
    Article.objects.filter(pk__in=ids[3:9]).update(newspaper=other)
    find_duplicates()
    moved = Series.objects.get()
    assert (moved.newspaper, moved.articles) == (other, 6)
    assert moved.pk != series.pk
    lengths = HeadlineForm.objects.filter(characters=Length("article__content"))
    assert lengths.count() == Article.objects.count()


def test_a_remnant_of_extraction_is_not_a_duplicate(store) -> None:
    text = "About the senator: he was born in Port Selby and sits on the harbour committee of the upper house."
    headlines = ("New bridge opens", "Budget is passed", "Fishing quota cut", "School named after poet")
    for number, headline in enumerate(headlines):
        store(text, date=f"2026-03-0{number + 2}", headline=headline)
    find_duplicates()
    assert set(Pair.objects.values_list("verdict", "joins")) == {("similar", False)}
    assert {reasons[0] for reasons in Pair.objects.values_list("reasons", flat=True)} == {leftover(4)}


def test_pairs_of_other_scripts_are_judged_too(store) -> None:
    text = "Паром до острова отменён в пятницу из-за поломки насоса, сто двадцать пассажиров остались на причале. " * 3
    store(text, headline="Паром отменён")
    store(
        text + "Компания обещает оплатить гостиницу.", newspaper="Inland Courier", headline="Паром до острова отменён"
    )
    find_duplicates()
    assert verdicts(
        list(Pair.objects.values_list("left", flat=True)) + list(Pair.objects.values_list("right", flat=True))
    ) == {"duplicate"}


def test_a_pair_that_is_judged_alone_gets_the_verdict_that_a_run_gives_it(corpus, store, monkeypatch) -> None:
    monkeypatch.setattr(judging, "_PAIRS_AT_ONCE", 2)
    find_duplicates()
    pairs = list(Pair.objects.all())
    assert len(pairs) > 10
    for pair in (pairs[0], pairs[-1], Pair.objects.get(left=corpus["story"][0], right=corpus["story"][2])):
        ends = (pair.left_id, pair.right_id)
        row = judged_now(*ends, boilerplate=Mode.KEEP)
        stored = {name: getattr(pair, name) for name in JudgedRow._fields} | {"id": 0}
        assert row._asdict() | {"reasons": json.loads(row.reasons)} == stored
        now = judge_now(*ends)
        kind, probability, duplicate_probability, reasons = dataclasses.astuple(now.judgement)[:4]
        assert (kind, probability, duplicate_probability, list(reasons)) == (*row[1:4], pair.reasons)
        assert now.model == model_in_use()
        assert now.features == features_of_pairs([ends])[ends]
    every = [(pair.left_id, pair.right_id) for pair in (*pairs[:4], pairs[-1])]
    together = features_of_pairs(every)
    assert together == {ends: features_of_pairs([ends])[ends] for ends in every}

    # An article that no run has seen has no features yet; its verdict rests on what it is.
    new = store(STORY, newspaper="Fourth Paper")
    ends = (corpus["story"][0], new.pk)
    assert (judge_now(*ends), features_of_pairs([ends])) == (None, {})
    row = judged_now(*ends, boilerplate=Mode.KEEP)
    assert (row.verdict, row.joins, row.left_matched) == ("duplicate", True, 1.0)
    assert leftover(40) in json.loads(judged_now(*ends, boilerplate=Mode.KEEP, leftover=40).reasons)
    assert leftover(40) in judge_now(*every[0], leftover=40).judgement.reasons
    assert not Pair.objects.filter(right=new).exists()


def test_verdicts_are_stored_in_batches_with_what_they_rest_on(store, monkeypatch) -> None:
    monkeypatch.setattr(judging, "_PAIRS_AT_ONCE", 2)
    articles = [store() for _ in range(4)]
    pairs = [make_pair(*ends, verdict="", trigram=0.9) for ends in combinations(articles, 2)]
    rows = [
        JudgedRow(
            pair.pk, "version", 0.5 + number / 20, number / 20, json.dumps([f"Reason {number}."]), False, 0.1, 0.2
        )
        for number, pair in enumerate(pairs[:5])
    ]
    with transaction.atomic():
        numbers = store_rows(rows, {pair.pk: pair.pk + 7 for pair in pairs[:4]})
        columns = JudgedRow._fields[1:]
        assert numbers == [row.id for row in rows]
        stored = Pair.objects.in_bulk([pair.pk for pair in pairs])
        assert [tuple(getattr(stored[row.id], name) for name in columns) for row in rows] == [
            (*row[1:4], json.loads(row.reasons), *row[5:]) for row in rows
        ]
        assert [stored[pair.pk].input_digest for pair in pairs] == [*(pair.pk + 7 for pair in pairs[:4]), None, None]
        assert (stored[pairs[5].pk].verdict, stored[pairs[5].pk].probability) == ("", None)
        store_rows([], {})  # nothing to store, and the table of before is gone
