import random
import re

import pytest

from articles.normalization.affixes import LEAST_HEADLINES, SHARE, WINDOW, learn_affixes
from articles.normalization.text import normalize_text
from articles.normalization.titles import normalize_title

SUBJECTS = ("ferry", "council", "lighthouse", "library", "orchestra", "brewery", "bakery", "tramway", "mayor", "school")
VERBS = ("opens", "closes", "wins", "loses", "celebrates", "welcomes", "repairs", "sells", "paints", "moves")
OBJECTS = ("bridge", "garden", "hall", "market", "tower", "boat", "clock", "museum", "theatre", "mill", "quay", "well")


def headlines(count: int, form: str = "{}") -> list[str]:
    """Return the first `count` of 1,200 different headlines, in this form."""
    titles = [f"{subject} {verb} {thing}" for verb in VERBS for subject in SUBJECTS for thing in OBJECTS]
    return [form.format(title.capitalize()) for title in titles[:count]]


@pytest.mark.parametrize(
    "form",
    [
        "{} | Example Times",
        "{} - Example Times",
        "{} (Example Times)",
        "Example Times: {}",
        "[Example Times] {}",
        "<b>{}</b> &#124; Example Times",
        "{} \u200f-\u200f Example Times",
    ],
)
def test_an_affix_of_half_the_headlines_is_learnt(form: str) -> None:
    assert learn_affixes([*headlines(40, form), *headlines(80)[40:]]) == ["Example Times"]
    assert learn_affixes([*headlines(39, form), *headlines(80)[39:]]) == []


@pytest.mark.parametrize(
    ("form", "learnt"),
    [
        ("{} - ශ්‍රී ප්‍රවෘත්ති", "ශ්‍රී ප්‍රවෘත්ති"),
        ("صحيفة المثال | {}", "صحيفة المثال"),
        ("{}_示例网", "示例网"),
        ("【例報】{}", "例報"),
        ("{} | www.exampletimes.co.uk", "www.exampletimes.co.uk"),
    ],
)
def test_affixes_of_other_scripts_and_domains_are_learnt(form: str, learnt: str) -> None:
    titles = headlines(30, form)
    assert learn_affixes(titles) == [learnt]
    assert [normalize_title(title, [learnt]) for title in titles] == list(map(normalize_title, headlines(30)))


def test_spellings_of_an_affix_are_one_and_the_usual_one_is_learnt() -> None:
    titles = [*headlines(12, "{} | EXAMPLE TIMES"), *headlines(50, "{} - The Example Times")[12:30]]
    titles += headlines(80, "{} | Ｅｘａｍｐｌｅ　Ｔｉｍｅｓ")[50:60] + headlines(140)[60:100]
    assert learn_affixes(titles) == ["The Example Times"]


def test_an_affix_of_several_parts_is_learnt_whole() -> None:
    assert learn_affixes(headlines(50, "{} | News | Example")) == ["News | Example"]
    both = [*headlines(60, "{} | News | Example"), *headlines(100, "{} | Example")[60:]]
    assert learn_affixes(both) == ["Example", "News | Example"]


def test_a_newspaper_that_changed_its_name_has_two_affixes() -> None:
    titles = [*headlines(150, "{} | Old Example"), *headlines(900)[150:400]]
    titles += headlines(700, "{} | New Example")[400:550]
    assert learn_affixes(titles) == ["New Example", "Old Example"]


def test_an_affix_needs_half_of_some_neighbours_not_half_of_all() -> None:
    plain = headlines(1200)
    burst = [*plain[:600], *headlines(700, "{} | Example Times")[600:], *plain[700:]]
    assert learn_affixes(burst) == ["Example Times"]
    assert learn_affixes([headline for headline in burst if headline != burst[650]]) == []


def test_few_headlines_teach_nothing_and_those_that_differ_only_in_numbers_count_once() -> None:
    assert learn_affixes(headlines(LEAST_HEADLINES - 1, "Sport: {}")) == []
    assert learn_affixes([*headlines(10, "Sport: {}"), *headlines(20)[10:]]) == []
    assert learn_affixes([]) == []
    rates = [f"Rates of {day} May {year}: Port Selby" for day in range(1, 32) for year in (2025, 2026)]
    assert learn_affixes(rates) == []
    assert learn_affixes(headlines(1, "{} | Example Times") * 500) == []


def test_five_headlines_teach_a_name_so_long_that_it_would_replace_them() -> None:
    name = "Foreign Service of the Harbour Towns"
    assert learn_affixes(headlines(5, f"{{}} | {name}")) == [name]
    assert learn_affixes([*headlines(5, f"{{}} | {name}"), *headlines(11)[5:]]) == []
    assert learn_affixes(headlines(4, f"{{}} | {name}")) == []


def test_words_at_the_end_without_a_separator_need_nine_in_ten_headlines() -> None:
    ending = [*headlines(90, "{} Read more »"), *headlines(100)[90:]]
    assert learn_affixes(ending) == ["… Read more »"]
    plain = {normalize_title(headline, ["… Read more »"]) for headline in ending}
    assert plain == set(map(normalize_title, headlines(100)))
    assert learn_affixes([*headlines(89, "{} Read more »"), *headlines(100)[89:]]) == []
    assert learn_affixes(headlines(100, "{} today")) == []
    # Those before an affix are found after it is removed.
    assert learn_affixes(headlines(40, "{} by our desk | Example Times")) == ["Example Times", "… by our desk"]


def test_names_and_refused_affixes_are_not_learnt() -> None:
    titles = headlines(40, "{} | Example Times")
    assert learn_affixes(titles, names=["exampletimes.com"]) == []
    assert learn_affixes(titles, refused=["EXAMPLE-TIMES"]) == []
    assert learn_affixes(titles, ["Example Times"], refused=["Example Times"]) == []
    assert learn_affixes(headlines(40, "{} read more"), ["… read more"], refused=["… read more"]) == []


def test_a_learnt_affix_stays_while_a_headline_has_it() -> None:
    titles = [*headlines(59), "Mill opens old tower | EXAMPLE times", "Mayor sells old oar READ MORE"]
    known = ["Example Times", "Gone", "… Gone too", "… read more"]
    assert learn_affixes(titles, known) == ["Example Times", "… read more"]
    titles += headlines(300, "{} | EXAMPLE TIMES")[60:]
    assert learn_affixes(titles, known) == ["Example Times", "… read more"]


FORMS = ("{}", "{} | Example", "{} - News | Example", "Live: {}", "{} – Sport")


def by_brute_force(titles: list[str], affix: str) -> bool:
    """Return whether an affix is in half of some window, by checking every window."""
    distinct = list({re.sub(r"\d+", "0", normalize_text(title)): title for title in reversed(titles)}.values())[::-1]
    size = min(WINDOW, len(distinct))
    having = [affix in re.split(r" \| | - | – |: ", headline) for headline in distinct]
    counts = [sum(having[start : start + size]) for start in range(len(having) - size + 1)]
    return max(counts, default=0) >= max(LEAST_HEADLINES, SHARE * size)


@pytest.mark.parametrize("seed", range(12))
def test_random_headlines_give_the_same_affixes_as_brute_force(seed: int) -> None:
    dice = random.Random(seed)
    titles = []
    for headline in headlines(dice.choice([20, 60, 300, 900])):
        if not titles or dice.random() < 0.02:
            weights = [dice.random() ** 2 for _ in FORMS]
        titles.append(dice.choices(FORMS, weights)[0].format(headline))
        if dice.random() < 0.2:
            titles.append(dice.choice(titles))
    learnt = {part for affix in learn_affixes(titles) for part in affix.split(" | ")}
    for affix in ("Example", "Live", "Sport"):
        assert (affix in learnt) == by_brute_force(titles, affix), affix
    assert learn_affixes(titles, learn_affixes(titles)) == learn_affixes(titles)
