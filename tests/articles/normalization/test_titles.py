import pytest
from hypothesis import given
from hypothesis import strategies as st

from articles.normalization.text import normalize_text
from articles.normalization.titles import normalize_title, plain_title, tells_apart

PAPER = ["Example Times"]
LONG_PART = "mayor opens the long awaited bridge"  # 35 characters


@pytest.mark.parametrize(
    ("title", "normalized"),
    [
        ("Mayor’s Plan: “No”, Says Council!", "mayors plan no says council"),
        ("<b>Bridge</b>s closed<br>today", "bridges closed today"),
        ("Bridge<!-- ad --> closed", "bridge closed"),
        ("Fish &amp; chips&nbsp;tax", "fish chips tax"),
        ("Escaped twice: &lt;b&gt;fish&lt;/b&gt; &amp;amp; chips", "escaped twice fish chips"),
        ("Why 5 < 6 and 7 > 3", "why 5 6 and 7 3"),
        ("  Two\n lines ", "two lines"),
        ("harbour!@#line&*(", "harbourline"),
        ("The Mayor’ s plan, the boys’ school", "the mayors plan the boys school"),
        ("The U.S. and J.K. Marsh", "the us and jk marsh"),
        ("The US and JK Marsh", "the us and jk marsh"),
        ("Ferry self-service,rates/fares up 1.5% at 10.30", "ferry self service rates fares up 1 5 at 10 30"),
        ("‘Port’“open”", "portopen"),
        *((missing, "") for missing in ("", "  ", "(no title)", "[No Title]", "Untitled", "—", "<p></p>", "&nbsp;")),
        ("(no title) - Example Times", ""),
        # A kicker of one word goes.
        ("WATCH: Ferry sails", "ferry sails"),
        ("Opinion - Ferry sails", "ferry sails"),
        ("Op-Ed | Ferry sails", "ferry sails"),
        ("Breaking: Video: Ferry sails", "ferry sails"),
        ("Example Times: Watch: Ferry sails", "ferry sails"),
        ("Watch: (no title)", ""),
        ("Watch:", "watch"),
        ("Video – ", "video"),
        ("Watch the ferry sail", "watch the ferry sail"),
        ("Today's letters: Ferry sails", "todays letters ferry sails"),
        ("Ferry: watch sold", "ferry watch sold"),
        # So do marks of what is published again, and tickers.
        ("UPDATE 1-Ferry sails", "ferry sails"),
        ("CORRECTED-UPDATE 2-Ferry sails", "ferry sails"),
        ("Breaking: REFILE-Ferry sails", "ferry sails"),
        ("Rectificatif : Ferry sails", "ferry sails"),
        ("[Korrektur] Ferry sails", "ferry sails"),
        ("Ferry sails (Updated 3)", "ferry sails"),
        ("Ferry sails – CORRECTED", "ferry sails"),
        ("Ferry sails (TSX-V: ABC.A)", "ferry sails"),
        ("<ABC.N> Ferry sails", "ferry sails"),
        ("FERRY.L - Ferry sails", "ferry sails"),
        ("Update-proof phones", "update proof phones"),
        ("Correction officers on strike", "correction officers on strike"),
        ("U.S - China ferry", "us china ferry"),
        ("Update - 3", "update 3"),
        ("CORRECTED", "corrected"),
    ],
)
def test_markup_case_punctuation_and_kickers_are_removed(title: str, normalized: str) -> None:
    assert normalize_title(title, PAPER) == normalized


@pytest.mark.parametrize("separator", [" - ", " – ", " — ", "—", " | ", "|", ": ", " : ", " :: ", " · ", " « ", " » "])
def test_the_newspaper_is_removed_at_either_end(separator: str) -> None:
    assert normalize_title(f"Council votes{separator}Example Times", PAPER) == "council votes"
    assert normalize_title(f"Example Times{separator}Council votes", PAPER) == "council votes"


@pytest.mark.parametrize(
    ("title", "affixes"),
    [
        ("Council votes | THE EXAMPLE-TIMES", ["Example Times"]),
        ("Council votes | Example Times", ["The Example Times"]),
        ("Council votes | exampletimes.com", ["Example Times"]),
        ("Council votes | www.exampletimes.co.uk", ["The Example Times"]),
        ("Council votes | Example Times", ["exampletimes.com"]),
        ("Council votes | City Desk | Example Times", ["Example Times", "City Desk"]),
        ("Example Times: Council votes - Example Times", ["Example Times"]),
        ("Council votes - News: Radio Four", ["News: Radio Four"]),
        ("Council votes | News | Example", ["News | Example", "Example"]),
        ("Council votes (Example Times)", ["Example Times"]),
        ("[Example Times] Council votes", ["Example Times"]),
        ("Council votes (Town Hall) | Example Times", ["Example Times", "Town Hall"]),
        ("Council votes ~ Example Times", ["Example Times"]),
        ("Council votes / Example Times", ["Example Times"]),
        ("Council votes Read more »", ["… Read more"]),
        ("Council votes, THE EXAMPLE TIMES", ["… The Example Times"]),
        ("Council votes - Example Times", ["… Example Times"]),
    ],
)
def test_spellings_of_the_newspaper(title: str, affixes: list[str]) -> None:
    assert normalize_title(title, affixes) == "council votes"


@pytest.mark.parametrize(
    ("title", "affixes", "normalized"),
    [
        pytest.param("Example Times", PAPER, "example times", id="nothing but the name"),
        pytest.param("Example Times - Example Times", PAPER, "example times", id="the name twice"),
        pytest.param("Example Times wins prize", PAPER, "example times wins prize", id="no separator"),
        pytest.param("Council votes | Other Times", PAPER, "council votes other times", id="another newspaper"),
        pytest.param("Vote | jones.house.example", ["house.example"], "vote jones house example", id="another host"),
        pytest.param("Vote - Budget", [""], "vote budget", id="empty name"),
        pytest.param("Example Times", ["… Example Times"], "example times", id="nothing but the ending"),
        pytest.param("Counterexample times", ["… Example Times"], "counterexample times", id="inside a word"),
        pytest.param("Council/Example Times", PAPER, "council example times", id="a stroke without blanks"),
        ("වරායේ නව පාලම - උදාහරණ පුවත්", ["උදාහරණ පුවත්"], "වරායේ නව පාලම"),
        ("யாழ்ப்பாணம் | செய்தி", ["செய்தி"], "யாழ்ப்பாணம்"),
        ("الجسر مغلق | صحيفة المثال", ["صحيفة المثال"], "الجسر مغلق"),
        ("\u200fהגשר נסגר \u200f-\u200f עיתון הדוגמה\u200e", ["עיתון הדוגמה"], "הגשר נסגר"),
        ("港口大桥关闭_示例网", ["示例网"], "港口大桥关闭"),
        ("港口大桥关闭-示例网", ["示例网"], "港口大桥关闭"),
        ("【例報】港の橋が閉鎖", ["例報"], "港の橋が閉鎖"),
        ("Новый мост — Вечерний Пример", ["вечерний пример"], "новый мост"),
    ],
)
def test_an_affix_goes_in_every_script_and_nothing_else(title: str, affixes: list[str], normalized: str) -> None:
    assert normalize_title(title, affixes) == normalized


@pytest.mark.parametrize("separator", [" - ", " – ", " — ", "—", " | ", "|", ": ", "：", "｜"])
def test_a_long_part_replaces_the_title(separator: str) -> None:
    assert normalize_title(f"Update{separator}{LONG_PART}") == LONG_PART
    assert normalize_title(f"{LONG_PART}{separator}Minister") == LONG_PART


@pytest.mark.parametrize("joint", [":", "-", "–", " « ", " · ", ", "])
def test_other_punctuation_does_not_split(joint: str) -> None:
    assert normalize_title(f"Meeting at 10{joint}30 on {LONG_PART}") == f"meeting at 10 30 on {LONG_PART}"


def test_the_part_needs_32_characters_and_is_not_the_newspapers_name() -> None:
    assert normalize_title(f"Sport: {'b' * 32}") == "b" * 32
    assert normalize_title(f"Sport: {'b' * 31}") == f"sport {'b' * 31}"
    name = "Example Times of the Lower River and the Coast"
    title = f"Council votes - {name} - Sport"
    assert normalize_title(title, [name]) == "council votes example times of the lower river and the coast sport"


def test_kickers_and_long_prefixes_over_one_long_part_are_one_form() -> None:
    question = "what the new tax rules mean for small farmers"
    for prefix in ("Analysis", "Live updates", "In Bildern", "Update 2", "Sport", "The Interview", "After the vote"):
        assert normalize_title(f"{prefix}: {question}") == question
    for suffix in ("Minister", "KTLA 5", "a reply to our critics"):
        assert normalize_title(f"{question} – {suffix}") == question


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Asylum : figures of the first quarter of 2026", "Migration: figures of the first quarter of 2026"),
        (f"Budget 2025: {LONG_PART}", f"Budget 2026: {LONG_PART}"),
        (f"{LONG_PART} – Part I", f"{LONG_PART} – Part II"),
        (f"{LONG_PART} – Part I", LONG_PART),
        (f"{LONG_PART} – II", LONG_PART),
        (f"{LONG_PART} | 2/3", f"{LONG_PART} | 3/3"),
        (f"Teil 2: {LONG_PART}", f"Teil 3: {LONG_PART}"),
        (f"The second part of our series, Part 2: {LONG_PART}", f"The third part of our series, Part 3: {LONG_PART}"),
        ("Exports: +3% in May", "Exports: -3% in May"),
        ("Exports: −0.5 in May", "Exports: 0.5 in May"),
        ("Frost: –5 °C at night", "Frost: 5 °C at night"),
        ("Agency rates harbour bonds A+", "Agency rates harbour bonds A-"),
        ("Agency rates harbour bonds BBB- again", "Agency rates harbour bonds BBB again"),
    ],
)
def test_headlines_of_two_stories(first: str, second: str) -> None:
    assert normalize_title(first) != normalize_title(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Bridge, Part Two", "Bridge – part II"),
        ("Prices fall −2%", "Prices fall -2%"),
        ("Score 3-1, years 2025–26", "Score 3–1, years 2025-26"),
        (f"The Ferry: {LONG_PART}", f"Ferry – {LONG_PART}"),
        (f"Live: {LONG_PART} – Part 2", f"{LONG_PART}, Part II"),
    ],
)
def test_headlines_of_one_story(first: str, second: str) -> None:
    assert normalize_title(first) == normalize_title(second)


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("Snap counts: at UCLA", "Snap counts: vs. Charlotte", True),
        ("Recap of Week 1: the games", "Recap of Week 2: the games", True),
        ("Benefits in 2024: when they are paid", "Benefits in 2025: when they are paid", True),
        ("Snap counts: at UCLA", "Snap counts", False),
        ("Watch: ferry stays - Example Times", "Ferry stays | Sport", False),
        ("CORRECTED-Ferry stays", "Ferry stays (update 2)", False),
        ("Ferry stays: health authorities", "Ferry stays: health suthorities", False),
        ("", "", False),
    ],
)
def test_two_headlines_are_told_apart_by_words_that_only_one_has(one: str, other: str, *, apart: bool) -> None:
    assert tells_apart(one, other) is tells_apart(other, one) is apart


_MARKS = " - :Part: ii :+3%: -3%: | :—: « :watch:':.:!:(:):\u200f:<b>:</b>:&amp;:&lt;:&#8211;:no title:the "
_PIECES = [*_MARKS.split(":"), "UPDATE 1-", "(corrected)", LONG_PART, ": ", "::", "Example Times", "exampletimes.com"]


@given(st.lists(st.sampled_from(_PIECES) | st.text(max_size=4)).map("".join))
def test_normalising_is_idempotent(title: str) -> None:
    once = normalize_title(title, PAPER)
    assert normalize_title(once, PAPER) == once == normalize_text(once)


@pytest.mark.parametrize(
    ("title", "plain"),
    [
        ("<b>Ferry</b> &amp; tram: U.S. visit | Example Times", "Ferry & tram: U.S. visit"),
        ("Watch: Ferry sails (Example Times)", "Watch: Ferry sails"),
        ("Example Times", "Example Times"),
        ("", ""),
    ],
)
def test_the_plain_title_lacks_only_markup_and_the_newspaper(title: str, plain: str) -> None:
    assert plain_title(title, PAPER) == plain
