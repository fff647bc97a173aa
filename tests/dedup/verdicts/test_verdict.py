"""Verdicts and their reasons, the shipped model, and fitting another one."""

import datetime
import re
from dataclasses import astuple, replace

import pytest

from articles.normalization.times import written_time
from dedup.detection.comparison.compare import Comparison, compare
from dedup.detection.comparison.prepared import ArticleText, Preparer
from dedup.detection.comparison.recurring import HeadlineSeries
from dedup.detection.types import Relation, SameAs, VerdictKind
from dedup.detection.verdicts.features import (
    SAME_TEASER,
    SAME_TEXT,
    STUBS,
    features_of,
    identity_of,
    without_series,
)
from dedup.detection.verdicts.model import default_model
from dedup.detection.verdicts.reasons import IDENTITIES, reasons_for
from dedup.detection.verdicts.relations import measured
from dedup.detection.verdicts.same_as import JOINS_FROM, MOST_OWN, is_same
from dedup.detection.verdicts.verdict import judgement_of
from tests.dedup.recurring_texts import recurring_texts

MONDAY = datetime.date(2026, 3, 2)

STORY = (
    "The night ferry to Lastovo was cancelled on Sunday after its engine failed in the outer harbour. "
    "Some 120 passengers spent the night in the sports hall of the Marin Držić school, where volunteers "
    "of the Red Cross handed out blankets and soup. "
    "“We heard a bang and then it was quiet,” said Ivo Barić, a teacher who was on his way home. "
    "A second ship, the Hektorović, will sail on Tuesday at noon if the wind allows it. "
    "The company will refund all tickets, its director Ana Kovač told this newspaper. "
    "It is the third such failure since October, and the union of sailors has asked for an inquiry. "
    "The harbour office said that the ship was inspected in January and found to be sound. "
    "Its two engines are from 1987 and were to be replaced in the coming winter, at a cost of 4.2 million euros. "
    "The ministry did not answer questions on whether the line will be put out to tender again this year. "
    "Islanders have complained for years that they are cut off whenever the old ship fails."
)
SENTENCES = STORY.split(". ")

REWRITTEN = (
    "Dozens of islanders were stuck in Split at the weekend because the ship that should have taken them home "
    "broke down. They slept on mattresses in a gymnasium. Aid workers looked after them. According to the operator "
    "nobody was hurt, and everybody gets their money back. Trade unionists blame poor maintenance and call for "
    "consequences. Officials point to a check at the start of the year that revealed no defects. A replacement vessel "
    "is expected early this week, depending on the weather. The engines date from the eighties."
)


def rates(day: int, first: str, second: str, third: str) -> ArticleText:
    content = (
        f"The crown closed at {first} to the euro on {day} March, the central bank said. "
        f"Importers bought {second} million euros, dealers in the capital reported on the day. "
        f"Against the pound the crown was quoted at {third} at the end of the session. "
        "The market will open again at nine on the next working day."
    )
    return article(content, f"Crown closes at {first} to the euro", day - 2)


def article(content: str, headline: str, day: int = 0, newspaper: int = 1) -> ArticleText:
    return ArticleText(newspaper, MONDAY + datetime.timedelta(days=day), headline, content)


def compared(left: ArticleText, right: ArticleText, *others: ArticleText) -> Comparison:
    """Compare two articles, given these and the other articles of their newspapers."""
    preparer = Preparer()
    everything = [left, right, *others]
    prepared = [preparer.prepare(stored_article) for stored_article in everything]
    text = recurring_texts(prepared)
    rows = [
        (stored_article.newspaper, stored_article.date, preparer.headline_forms([stored_article.headline])[0])
        for stored_article in everything
    ]
    headlines = HeadlineSeries(rows)
    series = [headlines.recurrence_of(*row, text[row[0]]) for row in rows]
    return compare(prepared[0], prepared[1], series[0], series[1])


HEADLINE = "Night ferry to Lastovo cancelled, 120 passengers stranded"
ORIGINAL = article(STORY, HEADLINE)
RATES = [rates(day, f"7.{day}1", f"{day}.4", f"8.{day + 20}") for day in range(2, 14)]


# ---- the model that ships, on what editors meet -----------------------------------------------------


DEVELOPED = f"{'. '.join([*SENTENCES[:3], *SENTENCES[5:6]])}. {REWRITTEN}{' A court will hear the case in May. ' * 2}"
STORIES = {
    "syndicated": (article(STORY, "Engine failure: islanders stranded in Split", 0, 2), VerdictKind.DUPLICATE),
    "cropped": (article(". ".join(SENTENCES[:4]) + ".", HEADLINE, 1, 2), VerdictKind.DUPLICATE),
    "extended": (
        article(f"{STORY} The mayor will visit the passengers on Monday evening.", HEADLINE),
        VerdictKind.DUPLICATE,
    ),
    "letter": (
        article(STORY.replace("sailors", "sailers"), HEADLINE.replace("stranded", "stuck")),
        VerdictKind.DUPLICATE,
    ),
    "developing story": (article(DEVELOPED, "Ferry operator faces inquiry", 2), VerdictKind.VERSION),
    "event": (article(REWRITTEN, "Islanders sleep in gymnasium after ferry breaks down", 0, 2), VerdictKind.SIMILAR),
    "unrelated": (
        article("Bakers in the old town put up their prices for a third time. " * 3, "Bread dearer again", 0, 2),
        VerdictKind.SIMILAR,
    ),
}


@pytest.mark.parametrize(("other", "kind"), STORIES.values(), ids=STORIES)
def test_the_verdicts_on_a_story(other: ArticleText, kind: VerdictKind) -> None:
    assert judgement_of(compared(ORIGINAL, other)).kind == kind


TIDES = "Tides in the harbour of Split will be high at {} and at {} on {}, and boats must keep clear of the old quay."
TIDE = article(TIDES.format("4.10", "16.30", "Monday"), "Tides in Split")
NEXT_TIDE = article(TIDES.format("5.20", "17.40", "Tuesday"), TIDE.headline, 1)
VIDEO = article("Passengers on the quay at dawn, and what they say.", HEADLINE)
TEASER = article("Some 120 people wait for a ship. Read on to learn what the company has promised …", HEADLINE)


@pytest.mark.parametrize(
    ("left", "right", "others", "identity"),
    [
        # The text says it, also weeks later, where all of its phrases recur, and with a few words more.
        (ORIGINAL, replace(ORIGINAL, date=MONDAY + datetime.timedelta(30)), [article(STORY, "", 11)], SAME_TEXT),
        (ORIGINAL, replace(ORIGINAL, content=f"{STORY} More soon."), [], SAME_TEXT),
        (ORIGINAL, replace(ORIGINAL, content=STORY.replace("120", "95")), [], 0),
        (ORIGINAL, replace(ORIGINAL, headline="Sailors ask for an inquiry"), [], 0),
        # A headline says it of two teasers, soon after each other.
        (VIDEO, TEASER, [], SAME_TEASER),
        (VIDEO, replace(TEASER, date=MONDAY + datetime.timedelta(1)), [], SAME_TEASER),
        (VIDEO, replace(TEASER, date=MONDAY + datetime.timedelta(2)), [], 0),
        (VIDEO, replace(TEASER, date=MONDAY + datetime.timedelta(3), newspaper=2), [], SAME_TEASER),
        (VIDEO, ORIGINAL, [], 0),
        # But not of a series: nor of its first two days, by their numbers.
        (VIDEO, TEASER, [replace(VIDEO, date=MONDAY + datetime.timedelta(7))], 0),
        (TIDE, NEXT_TIDE, [], 0),
        (TIDE, NEXT_TIDE, [replace(TIDE, date=MONDAY + datetime.timedelta(2))], 0),
        # Of stubs it says nothing.
        (article("Loading …", HEADLINE), article("Loading …", "Menu"), [], STUBS),
        (article("Loading …", HEADLINE), article("Loading …", HEADLINE), [], SAME_TEXT),
    ],
)
def test_what_the_headline_and_the_text_say_decides(
    left: ArticleText, right: ArticleText, others: list[ArticleText], identity: float
) -> None:
    comparison = compared(left, right, *others)
    judgement = judgement_of(comparison)
    assert identity_of(comparison) == identity_of(compared(right, left, *others)) == identity
    assert IDENTITIES.keys() & {identity} == {key for key, said in IDENTITIES.items() if said in judgement.reasons}
    if identity > 0:
        assert is_same(SameAs.CROPPED, judgement.measured.relation, judgement.duplicate_probability, (1.0, 1.0))
    elif identity or left is TIDE:
        assert judgement.kind != VerdictKind.DUPLICATE


ITEM = "Ana Kovač opens the sixth summer fair of the islands in the town hall of Lastovo. It runs until noon on Sunday."
ROUNDUP = f"{' '.join(SENTENCES[5:9])}. {ITEM} {REWRITTEN}"


@pytest.mark.parametrize(
    ("other", "verdict", "relation", "own", "new_text"),
    [
        (article(f"{STORY} Nobody was hurt.", HEADLINE, 1), "duplicate", Relation.COPY, (0, 3), "tail"),
        (article(". ".join(SENTENCES[:4]) + ".", HEADLINE, 1), "duplicate", Relation.CONTAINS, (0, 103), "tail"),
        (article(f"{'. '.join(SENTENCES[:7])}. {REWRITTEN}", HEADLINE, 2), "version", Relation.UPDATE, None, "tail"),
        (article(DEVELOPED, HEADLINE, 2), "version", Relation.SIMILAR, None, "tail"),
        (article(DEVELOPED, HEADLINE, 2, 2), "version", Relation.SIMILAR, None, "tail"),
        (article(ITEM, HEADLINE, 1), "template", Relation.TEMPLATE, None, "head"),
        (article(ITEM, HEADLINE, 1), "similar", Relation.SIMILAR, None, "head"),
    ],
)
def test_relations(other, verdict, relation, own, new_text) -> None:
    comparison = compared(ORIGINAL, other)
    probabilities = default_model().probabilities(features_of(comparison))
    found = measured(comparison, probabilities, verdict)
    assert (found.relation, found.new_text) == (relation, new_text)
    assert found.probability == getattr(probabilities, verdict)
    assert own is None or (found.shorter_own, found.longer_own) == own
    assert measured(compared(other, ORIGINAL), probabilities, verdict) == found


@pytest.mark.parametrize(
    ("other", "relation", "own"),
    [
        (article(ROUNDUP, "The day in brief", 1), Relation.PART, 0),
        (article(ROUNDUP, "The day in brief", 0, 2), Relation.PART, 0),
        # The item is the later one; it is much of the other article; both are short.
        (article(ROUNDUP, "The day in brief", -1), Relation.UPDATE, 0),
        (article(f"{'. '.join(SENTENCES[1:4])}. {ITEM}", "The day in brief", 1), Relation.UPDATE, 0),
        (article(f"{SENTENCES[1]}. It runs until noon on Sunday.", "Fair opens", 1), Relation.SIMILAR, 16),
    ],
)
def test_a_version_that_is_one_item_of_a_longer_article_is_a_part_of_it(
    other: ArticleText, relation: Relation, own: int
) -> None:
    comparison = compared(article(ITEM, "Fair opens"), other)
    found = measured(comparison, default_model().probabilities(features_of(comparison)), "version")
    assert (found.relation, found.shorter_own, found.quoted) == (relation, own, 0.0)


@pytest.mark.parametrize(("headline", "relation"), [("Fair opens today", Relation.COPY), ("News", Relation.CONTAINS)])
def test_teasers_under_headlines_that_are_alike_are_copies(headline: str, relation: Relation) -> None:
    comparison = compared(article(ITEM, "Fair opens"), article(ITEM[: len(ITEM) // 2], headline, 0, 2))
    probabilities = default_model().probabilities(features_of(comparison))
    assert measured(comparison, probabilities, "duplicate").relation is relation


def test_exchange_rates_are_a_template_also_without_their_series() -> None:
    assert judgement_of(compared(*RATES[:2])).kind == VerdictKind.TEMPLATE
    verdict = judgement_of(compared(*RATES))
    assert verdict.kind == VerdictKind.TEMPLATE
    assert verdict.duplicate_probability < 0.05
    expected = (
        r"^1 of 4 sentences .*\b3\b.* only in numbers\.$",
        r"^4 numbers .*: 7\.21 → 7\.31, 2 → 3, 2\.4 → 3\.4 and 1 more\.$",
        r"^Dates .*publication",
        r"^Headlines of this form .* same newspaper on 11 other days within 60 days, daily\.$",
        r"^All shared phrases .*the newspaper prints again and again\.$",
        r"^The headlines .* only in numbers or dates\.$",
        r"1 day apart .*same newspaper\.$",
    )
    assert len(verdict.reasons) == len(expected)
    assert all(re.search(pattern, reason) for pattern, reason in zip(expected, verdict.reasons, strict=True))


def test_a_weekly_column_is_not_a_duplicate() -> None:
    greeting = "Good morning and welcome to this week's letter from the harbour, in which we answer what readers ask. "
    farewell = " Write to us before Thursday and we will answer the best letters in the coming week, as we always do."
    columns = [
        article(f"{greeting}{SENTENCES[week]}. {SENTENCES[week + 4]}.{farewell}", "Letter from the harbour", 7 * week)
        for week in range(5)
    ]
    verdict = judgement_of(compared(*columns))
    assert verdict.kind != VerdictKind.DUPLICATE
    assert any(re.search("on 4 other days within 60 days, about every 7 days", reason) for reason in verdict.reasons)


def test_two_days_of_a_live_blog_are_not_duplicates() -> None:
    first = article(". ".join(SENTENCES[:5]) + ".", "LIVE: News from the harbour")
    second = article(REWRITTEN, "LIVE: News from the harbour", 1)
    verdict = judgement_of(compared(first, second))
    assert verdict.kind != VerdictKind.DUPLICATE
    assert "The headlines are the same." in verdict.reasons


def test_results_by_district_on_one_day_are_not_duplicates() -> None:
    def results(district: str, leader: str, votes: int, second: str) -> ArticleText:
        content = (
            f"The results of the postal votes of the district of {district} were released by the Electoral Office. "
            f"{leader} leads with {votes:,} votes and is followed by {second}. The count goes on."
        )
        return article(content, f"{leader} leads postal votes in {district}")

    verdict = judgement_of(
        compared(
            results("Zadar", "Marija Horvat", 12_431, "Petar Babić"),
            results("Osijek", "Josip Knežević", 9_377, "Lucija Vuković"),
            *[results(f"Kotar{number}", f"Ime{number}", 8_000 + number, f"Prezime{number}") for number in range(20)],
        )
    )
    assert verdict.kind != VerdictKind.DUPLICATE


# ---- reasons ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        (STORY, r"^The texts are the same, word for word\.$"),
        (REWRITTEN, r"^The articles share no sentence\.$"),
        (
            "It was cold, but the sports hall of the old theatre was full that evening, and all seats were taken.",
            r"^The articles share 2 phrases of four words, but no sentence\.$",
        ),
        ("…", r"\bno text\b"),
        (". ".join(SENTENCES[:3]) + ".", r"^All 3 .* appear word for word .*longer one\.$"),
        (STORY.replace("120", "95").replace("1987", "1990"), r"^8 of 10 .* 2 differ only in numbers\.$"),
        (STORY.replace("Ana Kovač", "Eva Lukić"), r"^9 of 10 .* one differs only in names\.$"),
        (STORY.replace("120", "95").replace("October", "May"), r"^8 of 10 .* 2 differ only in numbers and dates\.$"),
        (f"{'. '.join(SENTENCES[:5])}. Nobody knows when.", r"^5 of .* 6 .* appear word for word .*; 1 is only in"),
        (
            STORY.replace("handed out blankets", "gave out warm blankets"),
            r"^9 of .* 10 .* appear word for word .* 1 more with changes\.$",
        ),
    ],
)
def test_the_first_reason_is_about_the_sentences(right: str, expected: str) -> None:
    assert re.search(expected, reasons_for(compared(ORIGINAL, article(right, HEADLINE)))[0])


def test_reasons_name_what_is_replaced() -> None:
    other = STORY.replace("120", "95").replace("October", "May").replace("Ana Kovač", "Eva Lukić")
    reasons = reasons_for(compared(ORIGINAL, article(other, "", 3, 2)))
    assert "1 number replaced: 120 → 95." in reasons
    assert "1 date replaced: October → May." in reasons
    assert "1 name replaced: Ana Kovač → Eva Lukić." in reasons
    assert re.search("3 days apart .*two newspapers", reasons[-1])


def test_numbers_in_a_row_are_replaced_one_for_one() -> None:
    place = "boats at the old quay on the hill behind the harbour of the town, as in every year"
    counts = (", ".join(str(first + number) for number in range(12)) for first in (1200, 3400))
    left, right = (article(f"They counted {count} {place}.", "") for count in counts)
    assert "12 numbers replaced: 1200 → 3400, 1201 → 3401, 1202 → 3402 and 9 more." in reasons_for(
        compared(left, right)
    )


def test_two_prints_of_one_headline_are_no_series_and_three_are() -> None:
    first, again, later = (article(STORY, HEADLINE, day) for day in (0, 1, 9))
    assert not any("Headlines of this form" in reason for reason in reasons_for(compared(first, again)))
    assert "Headlines of this form appear in the same newspaper on 2 other days within 60 days." in (
        reasons_for(compared(first, again, later))
    )
    assert "Headlines of this form appear in the same newspaper on 1 other day within 60 days." in (
        reasons_for(compared(first, first, again))
    )


def test_reasons_say_how_many_of_the_shared_phrases_recur() -> None:
    forms = [
        article(f"{SENTENCES[0]}. The tide tables are at the office, and the kiosk sells them in May.", "", day, 2)
        for day in (0, 4, 8)
    ]
    copy = article(f"{SENTENCES[0]}. The tide tables are at the office, and the kiosk has closed for good.", "")
    assert "All shared phrases are ones that one of the newspapers prints again and again." in (
        reasons_for(compared(copy, *forms))
    )
    longer = replace(forms[0], content=f"{forms[0].content} {SENTENCES[1]}.")
    other = replace(copy, content=f"{copy.content} {SENTENCES[1]}.")
    assert "51% of the shared phrases are ones that one of the newspapers prints again and again." in (
        reasons_for(compared(other, longer, *forms[1:]))
    )


# ---- the verdict and the model ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("relation", "probability", "matched", "under"),
    [
        ("copy", JOINS_FROM, (1.0, 0.9), "copies cropped states updates"),
        ("copy", JOINS_FROM - 0.01, (1.0, 0.9), ""),
        ("contains", 0.9, (1 - MOST_OWN, 1.0), "cropped states updates"),
        ("contains", 0.9, (1.0, 0.99 - MOST_OWN), "states updates"),
        ("update", 0.1, (0.6, 0.3), "updates"),
        ("part", 0.9, (0.9, 0.3), ""),
        ("template", 0.9, (1.0, 1.0), ""),
        ("similar", 0.9, (1.0, 1.0), ""),
    ],
)
def test_what_counts_as_the_same(relation: str, probability: float, matched: tuple[float, float], under: str) -> None:
    assert [same_as for same_as in SameAs if is_same(same_as, relation, probability, matched)] == under.split()


@pytest.mark.parametrize(
    ("times", "arrow", "order"),
    [
        (("18:30", "07:10"), "95 → 120", "the first article earlier than the second"),
        (("07:10", "18:30"), "120 → 95", "the first article earlier than the second"),
        (("07:10", "07:10"), "120 → 95", "it is not known which came first"),
        (("07:10", ""), "120 → 95", "it is not known which came first"),
    ],
)
def test_what_is_replaced_reads_from_the_earlier_article_to_the_later_one(
    times: tuple[str, str], arrow: str, order: str
) -> None:
    pair = ORIGINAL, article(STORY.replace("120", "95"), HEADLINE)
    left, right = (
        replace(stored_article, time=written_time(f"2026-03-02T{time}Z"))
        for stored_article, time in zip(pair, times, strict=True)
    )
    judgement, of_days = judgement_of(compared(left, right)), judgement_of(compared(*pair))

    assert f"1 number replaced: {arrow}." in judgement.reasons
    assert f"Published on the same day by the same newspaper; {order}." in judgement.reasons
    assert replace(judgement, reasons=()) == replace(of_days, reasons=())
    later = replace(left, date=right.date + datetime.timedelta(days=3))
    assert "1 number replaced: 95 → 120." in judgement_of(compared(later, right)).reasons


def test_probabilities_add_up_and_features_are_known_without_series() -> None:
    row = features_of(compared(*RATES))
    assert sum(astuple(default_model().probabilities(row))) == pytest.approx(1)
    alone = features_of(compare(*[Preparer().prepare(rate) for rate in RATES[:2]]))
    assert row != pytest.approx(alone)
    assert without_series(row) == pytest.approx(alone)


def test_a_higher_threshold_makes_fewer_duplicates() -> None:
    comparison = compared(ORIGINAL, replace(ORIGINAL, newspaper=2))
    strict = replace(default_model(), threshold=1.0)
    assert judgement_of(comparison).kind == VerdictKind.DUPLICATE
    assert judgement_of(comparison, strict).kind != VerdictKind.DUPLICATE


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        ("Rain at 4 pm in Split.", "Rain at 5 pm in Split.", r"single sentence differs only in numbers\.$"),
        (
            "The ferry sails at noon on weekdays. The buses wait for it.",
            "The ferry sails at noon on weekdays. The buses wait for it. Tickets are sold on the quay.",
            r"^Both sentences .* appear word for word",
        ),
        (
            "The old ferry to the outer islands sails at noon on all weekdays until the end of May.",
            "The ferry to the outer islands sails at noon on weekdays until the end of May. Tickets cost more.",
            r"single sentence .* appears with changes",
        ),
    ],
)
def test_reasons_name_one_and_two_sentences_in_words(left: str, right: str, reason: str) -> None:
    assert re.search(reason, reasons_for(compared(article(left, "One"), article(right, "Two")))[0])
