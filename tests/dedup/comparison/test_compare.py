"""The full comparison: every feature on invented texts."""

import datetime
from collections import defaultdict
from dataclasses import replace
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup.detection.comparison import recurring
from dedup.detection.comparison.alignment import Change, Replacement, match_sentences
from dedup.detection.comparison.compare import Comparison, compare
from dedup.detection.comparison.lexicon import DATE, NAME, NUMBER, OTHER
from dedup.detection.comparison.prepared import ArticleText, PreparedArticle, Preparer, shown_sentences
from dedup.detection.comparison.recurring import (
    HeadlineSeries,
    Recurrence,
    RecurringText,
    common_words,
    printings,
    recurring_between,
    usual_gap,
)
from dedup.detection.kernels.masked_shingles import ShingleSets
from tests.dedup.recurring_texts import recurring_texts

MONDAY = datetime.date(2026, 3, 2)

FERRY = (
    "The night ferry to Lastovo was cancelled after its engine failed in the outer harbour. "
    "Some 120 passengers spent the night in the sports hall of the school. "
    "A second ship will sail on Tuesday at noon if the wind allows it. "
    "The company will refund all tickets, its director Ana Kovač said."
)


def prepared(content: str, headline: str = "", day: int = 0, newspaper: int = 1) -> PreparedArticle:
    date = MONDAY + datetime.timedelta(days=day)
    return Preparer().prepare(ArticleText(newspaper, date, headline, content))


def compared(left: str, right: str) -> Comparison:
    return compare(prepared(left), prepared(right))


def many_words(first: str) -> str:
    return " ".join(f"{first}{chr(97 + n % 26) * 6}{chr(97 + n // 26) * 6}" for n in range(400))


# ---- words -----------------------------------------------------------------------------------------


def test_words_have_kinds() -> None:
    article = prepared("Mayor Lind met 1,200 people on Friday 6 March. They may march on in Oslo.")
    assert list(zip(article.shown, article.kinds, strict=True)) == [
        ("Mayor", OTHER),  # begins the sentence
        ("Lind", NAME),
        ("met", OTHER),
        ("1,200", NUMBER),
        ("people", OTHER),
        ("on", OTHER),
        ("Friday", DATE),
        ("6", NUMBER),
        ("March", DATE),
        ("They", OTHER),
        ("may", OTHER),
        ("march", OTHER),
        ("on", OTHER),
        ("in", OTHER),
        ("Oslo", NAME),
    ]
    assert article.numbers == {"1200": 1, "6": 1}


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("Le 3 mai, un lundi, il a plu", {"mai", "lundi"}),
        ("Am Dienstag, dem 4. März, regnet es", {"dienstag", "märz"}),
        ("Във вторник, 5 април, вали", {"вторник", "април"}),
        ("Στις 6 Ιουνίου, ημέρα Τετάρτη, βρέχει", {"ιουνίου", "τετάρτη"}),
        ("सोमवार 7 जून को बारिश", {"सोमवार", "जून"}),
        ("les mai et mars sont des mots", set()),
    ],
)
def test_months_and_weekdays_are_known_in_many_languages(text: str, dates: set[str]) -> None:
    article = prepared(text)
    assert {word for word, kind in zip(article.words, article.kinds, strict=True) if kind == DATE} == dates


def test_characters_numbers_and_units_are_separated_and_typography_is_ignored() -> None:
    assert prepared("港口關閉了").words == ["港", "口", "關", "閉", "了"]
    assert prepared("වරාය වසා ඇත").words == ["වරාය", "වසා", "ඇත"]
    assert prepared("٣٤ شخصا").kinds == bytes([NUMBER, OTHER])
    assert prepared("Rs.13mn or 2pm").words == ["rs", "13", "mn", "or", "2", "pm"]
    assert prepared("the company’s").words == prepared("the company's").words
    assert prepared("1,200 and 1200").numbers == {"1200": 2}


# ---- shared text -----------------------------------------------------------------------------------


def test_each_row_of_a_table_is_a_sentence_and_wrapped_lines_are_not() -> None:
    rows = "Results by district:\nEast 1,204\nWest 987, 41%\nHarbour 12\nThe count goes on in\nthe north."
    assert shown_sentences(rows) == [
        "Results by district: East 1,204",
        "West 987, 41%",
        "Harbour 12 The count goes on in the north.",
    ]


def test_equal_texts_share_everything() -> None:
    comparison = compared(FERRY, FERRY.upper())
    assert comparison.exact_sentences == comparison.shorter_sentences == comparison.longer_sentences == 4
    assert comparison.phrases.contained_smoothed == pytest.approx((50 + 1) / (50 + 2))
    assert comparison.matched_longer == comparison.longer_lead_matched == 1.0
    assert (comparison.own_parts, comparison.new_lead, comparison.quoted) == ((0, 0, 0), 0.0, 0.0)
    assert comparison.numbers_kept == comparison.words_kept == 1.0
    assert comparison.changes == {}


SPOKEN = FERRY.split(". ")
LEAD = "Islanders will be paid back, the company promised after a day of protest in the harbour. "
MET = "He met Ana and Ivo on 3 May and 4 June."
BAKERS = "Bakers in the old town put up their prices for a third time since winter began."
NOON = "The ferry sails at noon today."
CROPPED = FERRY.partition(" A second")[0]
RESPELT = FERRY.replace("cancelled", "canceled").replace("harbour", "harbor")


@pytest.mark.parametrize(
    ("left", "right", "names", "values"),
    [
        # A cropped copy is contained.
        (FERRY, CROPPED, "exact_sentences shorter_sentences longer_sentences", (2, 2, 4)),
        (FERRY, CROPPED, "phrases.contained_smoothed phrases.shared longer_lead_matched", (26 / 27, 25, 1.0)),
        (FERRY, CROPPED, "matched_share matched_longer", (1.0, 28 / 53)),
        # What the longer article has of its own stands before, among or after what matches.
        (FERRY, f"{LEAD}{FERRY}", "own_parts", ((16, 0, 0),)),
        (FERRY, FERRY.replace("A second", f"{LEAD}A second"), "own_parts", ((0, 16, 0),)),
        (FERRY, FERRY.replace("Some 120", "Some 120 very tired"), "own_parts", ((0, 2, 0),)),
        (FERRY, f"{FERRY} {LEAD}", "own_parts", ((0, 0, 16),)),
        (FERRY, BAKERS, "own_parts quoted", ((53, 0, 0), 0.0)),
        # The lead of the longer article is matched in part; moved sentences are still the same.
        (FERRY, f"{LEAD}{FERRY}", "longer_lead_matched", (15 / 31,)),
        (FERRY, ". ".join(SPOKEN[place] for place in (2, 0, 1, 3)), "exact_sentences", (4,)),
        # Unrelated texts share nothing.
        (FERRY, BAKERS, "phrases.contained_smoothed matched_share longer_lead_matched", (1 / 15, 0.0, 0.0)),
        (FERRY, BAKERS, "exact_sentences close_sentences", (0, 0)),
        # Inserted words are no replacements.
        (FERRY, FERRY.replace("Some 120", "Some 120 very tired"), "inserted_words replacements", (2, ())),
        # The longer one keeps one number of two, smoothed; that it has no day of publication, 2 March, says nothing.
        (MET.replace("3", "13"), "He met Ana and Eva on 13 May and 5 July, it is said.", "numbers_kept", (2 / 3,)),
        ("The 12 left on 2 March.", "The 12 left yesterday, it is said.", "numbers_kept", (1.0,)),
        ("The 12 left on 7 March.", "The 12 left last week, it is said.", "numbers_kept", (2 / 3,)),
        # Numbers are never near-equal; words spelt in two ways are, in edited sentences too.
        ("1200300 1200301", "1200302 1200303", "words_kept", (1 / 3,)),
        (FERRY, RESPELT, "matched_share exact_sentences", (1.0, 3)),
        # Of very different texts, a sample of the words is looked up.
        (many_words("alpha"), many_words("omega"), "words_kept", (1 / 401,)),
        # A text without words is compared as well.
        ("…", NOON, "shorter_words longer_words exact_sentences phrases.shared matched_longer", (0, 6, 0, 0, 0.0)),
    ],
)
def test_what_two_texts_share(left: str, right: str, names: str, values: tuple[object, ...]) -> None:
    comparison = compared(left, right)
    for name, value in zip(names.split(), values, strict=True):
        assert attrgetter(name)(comparison) == (pytest.approx(value) if isinstance(value, float) else value), name


@pytest.mark.parametrize(
    ("form", "quoted"),
    [
        ("“{}”", 1),
        ('"{}"', 1),
        ("« {} »", 1),
        ("»{}«", 1),
        ("„{}“", 1),
        ('„{}"', 1),
        ("{} “A pity.”", 0),
        ("The mayor said: “It is late.” {}", 0),
        ('The mayor said: „It is late". {}', 0),
        ("{}", 0),
    ],
)
def test_the_words_that_the_longer_article_quotes(form: str, quoted: int) -> None:
    for text in (CROPPED, CROPPED.replace(". ", ".\n\n")):  # in one paragraph and in two
        longer = f"{form.format(text)} {LEAD}{BAKERS}"
        assert compared(text, longer).quoted == quoted
        assert compared(form.format(text), longer).quoted == 0.0  # a quotation in both
    assert compared(BAKERS, f"{form.format(CROPPED)} {BAKERS}").quoted == 0.0  # the quotation is over


def test_the_lead_that_is_new_is_that_of_the_later_article_and_else_of_the_longer() -> None:
    long = f"Storm stops two boats. {NOON}"  # four words of ten are new
    assert [compare(prepared(NOON), prepared(long, day=day)).new_lead for day in (-1, 0, 1)] == [0.0, 0.4, 0.4]
    tail = f"{NOON} {' '.join(['It', 'is', 'at', 'noon', 'today'] * 5)} {BAKERS}"
    assert compared(NOON, tail).new_lead == pytest.approx(2 / 8)  # what is new after thirty words does not count
    assert compared("…", NOON).new_lead == 1.0
    assert compared("…", "…").new_lead == 0.0


parts = st.sampled_from([*(f"{sentence.removesuffix('.')}." for sentence in SPOKEN), LEAD, BAKERS, NOON, RESPELT, MET])
texts = st.lists(st.tuples(st.sampled_from(["{}", "“{}”", "«{}»", "„{}"]), parts), max_size=6).map(
    lambda found: " ".join(form.format(part) for form, part in found)
)


@settings(max_examples=200, deadline=None)
@given(texts, texts, st.integers(-1, 1))
def test_own_words_add_up_and_neither_order_nor_casing_matters(left: str, right: str, day: int) -> None:
    one, other = prepared(left), prepared(right, day=day)
    there, back = compare(one, other), compare(other, one)
    assert sum(there.own_parts) + round(there.matched_longer * there.longer_words) == there.longer_words
    assert min(there.own_parts) >= 0
    assert all(0 <= share <= 1 for share in (there.new_lead, there.quoted))
    shouted = compare(prepared(left.upper()), prepared(right.upper(), day=day))
    for name in ("own_parts", "new_lead", "quoted", "numbers_kept", "subject_exchanges"):
        assert getattr(there, name) == getattr(back, name) == getattr(shouted, name), name


def test_the_comparison_is_symmetric_except_for_the_replacements() -> None:
    left, right = (
        prepared(FERRY, "Ferry cancelled", 1),
        prepared(FERRY.replace("120", "95"), "Ferry stays in port", 0, 2),
    )
    there, back = compare(left, right), compare(right, left)
    assert there.replacements == (Replacement(Change.NUMBER, "120", "95"),)
    assert back.replacements == (Replacement(Change.NUMBER, "95", "120"),)
    assert (there.earlier, back.earlier) == ("right", "left")
    assert (there.days, there.same_newspaper) == (1, False)
    assert there.vocabularies == back.vocabularies[::-1]
    sides = {"replacements": (), "earlier": "", "vocabularies": ()}
    assert replace(there, **sides) == replace(back, **sides)


# ---- what differs ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("120", "95", Change.NUMBER),
        ("Tuesday", "Friday", Change.DATE),
        ("Ana Kovač", "Ivo Barić", Change.NAME),
        ("director", "directr", Change.SPELLING),
        ("120 passengers", "120 sailors", Change.UNIT),
        ("wind", "union", Change.WORDING),
    ],
)
def test_replaced_words_have_kinds(old: str, new: str, change: Change) -> None:
    comparison = compared(FERRY, FERRY.replace(old, new))
    assert comparison.changes == {change: 1}
    assert (comparison.exact_sentences, comparison.close_sentences) == (3, 1)


def test_a_sentence_is_matched_once() -> None:
    sentence = "Some 120 passengers spent the night in the sports hall."
    matches = match_sentences(prepared(f"{sentence} {sentence}"), prepared(sentence))
    assert [(match.left, match.right, match.exact) for match in matches] == [(0, 0, True)]


def test_dates_that_shift_with_the_publication() -> None:
    monday = prepared("The rate of the crown on 2 March was set at noon by the bank.", day=0)
    tuesday = prepared("The rate of the crown on 3 March was set at noon by the bank.", day=1)
    assert compare(monday, tuesday).moving_dates == 1
    assert compare(tuesday, monday).moving_dates == 1
    assert compare(monday, replace(tuesday, date=MONDAY)).moving_dates == 0


# ---- headlines -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "same", "numbers_alone", "similarity"),
    [
        ("Crown closes at 7.45", "CROWN CLOSES AT 7.45!", True, False, 1.0),
        ("Crown closes at 7.45", "Crown closes at 7.51", False, True, 0.9),
        ("Tide tables for March", "Tide tables for April", False, True, 17 / 21),
        ("Crown closes at 7.45", "Crown opens at 7.45", False, False, 0.8),
        ("Ferry cancelled: 120 stranded", "120 stranded, ferry cancelled", False, False, 1.0),
        ("", "", False, False, 0.0),
    ],
)
def test_headlines(left: str, right: str, *, same: bool, numbers_alone: bool, similarity: float) -> None:
    comparison = compare(prepared(FERRY, left), prepared(FERRY, right))
    assert (comparison.same_headline, comparison.headline_differs_in_numbers) == (same, numbers_alone)
    assert comparison.headline_similarity == pytest.approx(similarity)


def test_subjects_are_swapped_if_each_headline_names_something_that_the_other_article_lacks() -> None:
    split = prepared("The party won the district of Split.", "Party wins Split")
    zadar = prepared("The party won the district of Zadar.", "Party wins Zadar")
    both = prepared("The party won the districts of Split and Zadar.", "Party wins Split and Zadar")
    assert compare(split, zadar).subjects_swapped == 1
    assert compare(split, both).subjects_swapped == 0


# ---- series ----------------------------------------------------------------------------------------


def test_a_series_is_counted_in_its_own_newspaper_and_near_the_day() -> None:
    weekly = [(1, MONDAY + datetime.timedelta(days=7 * week), "crown at #") for week in range(-3, 20)]
    series = HeadlineSeries([*weekly, (2, MONDAY, "crown at #"), (1, MONDAY, "ferry cancelled")])
    assert series.recurrence_of(1, MONDAY, "crown at #") == Recurrence(11, 7)
    assert series.recurrence_of(2, MONDAY, "crown at #").days == 0
    assert series.recurrence_of(1, MONDAY, "ferry cancelled").days == 0


@pytest.mark.parametrize(
    ("days", "gap"), [([], 0), ([0, 7], 0), ([0, 7, 14], 7), ([0, 7, 15, 21], 7), ([0, 1, 9, 30], 0), ([0, 1, 2, 9], 1)]
)
def test_a_gap_is_usual_if_most_gaps_equal_it(days: list[int], gap: int) -> None:
    assert usual_gap([MONDAY + datetime.timedelta(days=day) for day in days]) == gap


def forecast(day: int, place: str) -> PreparedArticle:
    return prepared(f"Showers will fall over the coast and up to {day + 3} mm are possible, first in {place}.", day=day)


def test_phrases_recur_on_three_days_of_more_than_a_week_with_any_numbers() -> None:
    monday, thursday, next_monday = forecast(0, "Split"), forecast(3, "Zadar"), forecast(7, "Rijeka")
    text = recurring_texts([monday, thursday, next_monday])[1]
    comparison = compare(monday, thursday, Recurrence(text=text), Recurrence(text=text))
    assert comparison.phrases.recurring_share == 1.0
    # All but the phrase with the place.
    assert comparison.phrases.recurring_part == pytest.approx(12 / 13)
    assert comparison.phrases.fresh_contained == pytest.approx((0 + 1) / (1 + 2))
    assert compare(monday, thursday).phrases.recurring_share == 0.0


def test_a_story_of_one_week_is_no_form_and_neither_is_one_of_two_days() -> None:
    week = [forecast(day, "Split") for day in (0, 2, 6)]
    two_days = [forecast(day, "Split") for day in (0, 0, 9)]
    assert len(recurring_texts(week)[1].phrases) == len(recurring_texts(two_days)[1].phrases) == 0


def test_words_that_few_articles_have_count_alone() -> None:
    articles = [prepared(f"recall of product{number}") for number in range(40)]
    text = recurring_texts(articles)[1]
    series = Recurrence(text=text)
    assert text.common == {"recall", "of"}
    assert compare(articles[1], articles[30], series, series).rare_words_kept == 1.0  # product1 and product30 are close
    other = prepared("recall of a lamp")
    assert compare(articles[1], other, series, series).rare_words_kept == pytest.approx((0 + 1) / (1 + 1))
    assert compare(articles[1], other).rare_words_kept == pytest.approx((2 + 1) / (3 + 1))


def test_a_word_is_common_in_more_than_two_articles_and_one_in_fifty() -> None:
    assert common_words(["rain wind rain", "wind rain", "rain rain"]) == {"rain"}
    assert common_words(["rain"] * 4 + ["", "wind"] * 98 + ["regnéß"] * 5) == {"wind", "regnéß"}
    assert common_words(["rain"] * 5 + ["wind"] * 195) == {"rain", "wind"}
    assert common_words(["", ""]) == frozenset()


@pytest.mark.parametrize("sorted_at_once", [7, 10_000])
def test_phrases_that_recur_between_two_days_are_those_of_the_articles_in_between(monkeypatch, sorted_at_once) -> None:
    monkeypatch.setattr(recurring, "_SORTED_AT_ONCE", sorted_at_once)
    random = np.random.default_rng(14)
    days = np.sort(random.integers(700_000, 700_060, 90))
    drawn = [np.unique(random.integers(0, 40, 6)).astype(np.uint32) * np.uint32(1 << 26) for _ in days]
    sets = ShingleSets.of(drawn, np.uint32)
    printed, told = printings(None, days, sets), random.random(len(days)) < 0.9
    for first, last in ((700_000, 700_060), (700_010, 700_030), (700_030, 700_037), (700_050, 700_050)):
        printed_on = defaultdict(set)
        counted = told & (days >= first) & (days <= last)
        for day, phrases, counts in zip(days.tolist(), drawn, counted.tolist(), strict=True):
            for phrase in phrases.tolist() if counts else ():
                printed_on[phrase].add(day)
        recurs = [sentence for sentence, on in printed_on.items() if len(on) >= 3 and max(on) - min(on) >= 7]
        assert recurring_between(printed, days, counted).tolist() == sorted(recurs)


def test_what_recurs_is_known_of_newspapers_with_enough_articles() -> None:
    few, enough = (Recurrence(text=RecurringText(articles=count)) for count in (29, 30))
    assert not compare(prepared(FERRY), prepared(FERRY), enough, few).series_known
    assert compare(prepared(FERRY), prepared(FERRY), enough, enough).series_known


# ---- near-equal words ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The labour centre organised the programme", "The labor center organized the program"),
        ("Спасатели эвакуировали пассажиров парома", "Спасатели эвакуировали пассажира парома"),
        ("වරායේ නැව්වල මගීන් නැවතී සිටිති", "වරායෙ නැව්වල මගීන් නැවතී සිටිති"),
    ],
)
def test_words_spelt_in_two_ways_are_near_equal(left: str, right: str) -> None:
    comparison = compared(left, right)
    assert comparison.rare_words_kept == comparison.words_kept == 1.0


def test_a_replaced_subject_needs_no_capitals() -> None:
    left = "வடக்கு மாகாணத்தில் நாளை மழை பெய்யும் என்று வானிலை நிலையம் அறிவித்துள்ளது"
    right = left.replace("வடக்கு", "ஊவா")
    assert compared(left, right).subjects_replaced == 1
    assert compared(left, left).subjects_replaced == 0


@pytest.mark.parametrize(
    ("left", "right", "exchanges"),
    [
        ("Split wins a prize for its harbour. The mayor of Split gave thanks to all.", {"Split": "Zadar"}, 2),
        ("Split wins a prize for its harbour. The mayor of Osor gave thanks to all.", {"Split": "Zadar"}, 0),
        ("The flood came to Nd in May at noon. The flood in Nd was high.", {"Nd": "North"}, 0),  # begin alike
        ("The ship came on the 3 May at noon. The ship of 3 May was late.", {"3": "4"}, 0),
        ("The mayor said that it will rain. The vicar said that it will snow.", {"said": "claimed"}, 2),
        ("நாளை மதுரை நகரில் பெரிய விழா நடைபெறும் என்றனர். மாலையில் மதுரை நகரில் மக்கள் பலர் கூடுவர் என்றனர்.", {"மதுரை": "கோவை"}, 2),
    ],
)
def test_one_subject_takes_the_place_of_another_throughout(left: str, right: dict[str, str], exchanges: int) -> None:
    [(one, other)] = right.items()
    assert compared(left, left.replace(one, other)).subject_exchanges == exchanges


def test_a_common_word_is_no_subject() -> None:
    left, right = prepared("The ship will sail to Split at noon."), prepared("The ship will sail to Zadar at noon.")
    common = Recurrence(text=RecurringText(common=frozenset({"split"})))
    assert compare(left, right).subjects_replaced == 1
    assert compare(left, right, common, common).subjects_replaced == 0


def test_a_pair_belongs_to_a_series_if_both_articles_do() -> None:
    comparison = compare(prepared(FERRY), prepared(FERRY), Recurrence(8, 7), Recurrence(3, 7))
    assert (comparison.series_days, comparison.series_gap) == (3, 7)
    assert compare(prepared(FERRY), prepared(FERRY), Recurrence(8, 7), Recurrence(0, 0)).series_days == 0
