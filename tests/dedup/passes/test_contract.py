"""The contract that every pass keeps.

The test file of a pass, test_NAME.py, says with `alike(group, copy)` what of an article the pass looks at: articles of
one group are pairs to it, whatever else they hold.
"""

import dataclasses
import datetime
import importlib
import re
from collections.abc import Callable
from itertools import count

import pytest
from django.db import connection

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import without_boilerplate
from articles.models import Article, Newspaper
from articles.storage.boilerplate_marks import mark_weeks, outdated_weeks
from articles.storage.preparing import Forms
from dedup.declarations import ConfigError, SettingEffect, make_config, settings_of
from dedup.detection.bounds import bound_named
from dedup.detection.passes import PASSES
from dedup.detection.passes.base import NearConfig, Pass, Reach
from dedup.detection.passes.members import MemberPass
from dedup.detection.passes.trigram import TrigramConfig
from dedup.detection.types import Candidate, Tally, Window
from tests.dedup.passes import finding
from tests.dedup.passes.finding import WIRE

pytestmark = pytest.mark.django_db

EVERY_PASS = pytest.mark.parametrize("name", list(PASSES))


def every_pass_that(holds: Callable[[Pass], bool]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", [name for name, detection_pass in PASSES.items() if holds(detection_pass)])


DAYS = Window(datetime.date(2026, 3, 1), datetime.date(2026, 3, 31))


def find(name: str, window: Window = DAYS) -> list[Candidate]:
    return list(PASSES[name].find(window, PASSES[name].config_class(), connection))


@pytest.fixture
def alike(name):
    """Return what the test file of the pass says that its pairs have in common."""
    return importlib.import_module(f"tests.dedup.passes.test_{name}").alike


@pytest.fixture
def small_corpus(alike, store):
    """Two newspapers with articles that the pass pairs, on several days."""
    copies = count()
    for day in ("2026-03-02", "2026-03-04"):
        for paper in ("Harbour Post", "Inland Courier"):
            for _ in range(2):
                store(newspaper=paper, date=day, **alike(0, next(copies)))


@EVERY_PASS
def test_a_pass_finds_pairs_and_keeps_the_contract(name, small_corpus) -> None:
    found = find(name)
    assert found
    assert {pair.pass_name for pair in found} == {name}
    assert all(pair.left < pair.right and 0.0 <= pair.score <= 1.0 for pair in found)
    assert len({(pair.left, pair.right) for pair in found}) == len(found)
    # The same twice, and in blocks of days; and where no newspaper is in scope, there are none.
    assert find(name) == found
    days = [datetime.date(2026, 3, day) for day in range(1, 32)]
    assert sorted(pair for day in days for pair in find(name, Window(day, day))) == sorted(found)
    assert find(name, dataclasses.replace(DAYS, newspaper_ids=())) == []


@EVERY_PASS
def test_no_articles_and_a_single_article_give_nothing(name, alike, store) -> None:
    assert find(name) == []
    store(**alike(0, 0))
    assert find(name) == []


@EVERY_PASS
def test_the_window_bounds_the_later_article_and_nothing_after_it_is_read(name, small_corpus) -> None:
    day = datetime.date(2026, 3, 4)
    of_day = set(Article.objects.filter(date=day).values_list("pk", flat=True))
    every = {(pair.left, pair.right) for pair in find(name)}
    later = {pair for pair in every if of_day & set(pair)}
    assert later
    assert {(pair.left, pair.right) for pair in find(name, Window(day, day))} == later
    before = datetime.date(2026, 3, 3)
    assert {(pair.left, pair.right) for pair in find(name, Window(DAYS.first_day, before))} == every - later


BOUNDED = {name: days for name in PASSES if (days := bound_named(name, SettingEffect.WITHIN_DAYS))}


@pytest.mark.parametrize("name", BOUNDED)
def test_the_days_between_two_articles_are_bounded_inclusively(name, alike, store) -> None:
    late, middle, early = (store(date=f"2026-03-{day:02}", **alike(0, day)).pk for day in (16, 15, 5))
    found = finding.find(PASSES[name], **{BOUNDED[name]: 10})
    # The smaller id is left, whichever article is earlier.
    assert [(pair.left, pair.right) for pair in found] == [(late, middle), (middle, early)]
    of_day = finding.find(PASSES[name], Window(*[datetime.date(2026, 3, 15)] * 2), **{BOUNDED[name]: 10})
    assert [(pair.left, pair.right) for pair in of_day] == [(middle, early)]


@every_pass_that(lambda detection_pass: issubclass(detection_pass.config_class, NearConfig))
def test_equal_articles_make_all_pairs_and_in_a_dense_group_those_with_the_first(name, store) -> None:
    finding.store_texts([WIRE] * 60)
    first, *others = Article.objects.order_by("pk").values_list("pk", flat=True)
    assert len(finding.find(PASSES[name], dense_from=finding.NEVER_DENSE)) == 60 * 59 // 2
    tally = Tally()
    found = PASSES[name].find(finding.ALL_DAYS, PASSES[name].config_class(), connection, tally)
    assert {(pair.left, pair.right) for pair in found} == {(first, other) for other in others}
    assert tally.hubs.keys() == {first, *others}


@every_pass_that(lambda detection_pass: isinstance(detection_pass, MemberPass))
def test_members_are_counted_up_to_the_last_day(name, alike, store) -> None:
    pair = [store(**alike(0, copy)).pk for copy in range(2)]
    store(date="2026-05-01", **alike(0, 2))
    assert finding.pairs(PASSES[name], most_articles=2) == set()
    assert finding.pairs(PASSES[name], DAYS, most_articles=2) == {tuple(pair)}


@pytest.mark.parametrize("name", ["url", "post", "numbers"])
def test_a_key_that_too_many_articles_have_is_ignored(name, alike, store) -> None:
    for copy in range(4):
        store(**alike(0, copy))
    assert len(finding.pairs(PASSES[name], largest_group=4)) == 6
    assert finding.pairs(PASSES[name], largest_group=3) == set()


@every_pass_that(lambda detection_pass: detection_pass.compares_texts)
def test_texts_without_letters_never_match(name, store) -> None:
    for content in ("...", "!!!", "—", "…"):
        store(content)
    assert find(name) == []


SCRIPTS = (
    "කොළඹ වරාය අද සවස තද සුළඟ නිසා වසා දමන ලද අතර නව පාලම හෙට උදේ විවෘත කෙරේ",
    "கொழும்பு துறைமுகம் இன்று மாலை பலத்த காற்றால் மூடப்பட்டது புதிய பாலம் நாளை காலை அனைவருக்கும் திறக்கப்படும்",
    "أغلق ميناء كولومبو مساء اليوم بسبب الرياح سيفتح الجسر الجديد غدا صباحا أمام السيارات",
    "科倫坡港口今天晚上因為大風而關閉了所有的碼頭新橋明天早上將對所有的汽車和行人開放使用",
    "ท่าเรือโคลัมโบปิดในเย็นวันนี้เพราะลมแรงสะพานใหม่จะเปิดพรุ่งนี้เช้า",
    "Паромы отправляются в полдень по будням до конца мая, сообщила портовая служба.",
    "渡船は五月末まで平日の正午に出航すると港湾局が発表した。",
)


@pytest.mark.parametrize("name", ["trigram", "minhash", "sentence", "containment"])
def test_copies_in_any_script_are_found(name, store) -> None:
    pairs = {(store(text).pk, store(f"{text}! 𝟗").pk) for text in SCRIPTS}
    assert finding.pairs(PASSES[name]) == pairs


@EVERY_PASS
def test_both_articles_are_of_the_newspapers(name, small_corpus) -> None:
    paper = Newspaper.objects.get(name="Harbour Post")
    inside = set(Article.objects.filter(newspaper=paper).values_list("pk", flat=True))
    found = {(pair.left, pair.right) for pair in find(name, dataclasses.replace(DAYS, newspaper_ids=(paper.pk,)))}
    assert found
    assert found == {(pair.left, pair.right) for pair in find(name) if {pair.left, pair.right} <= inside}


@every_pass_that(lambda detection_pass: detection_pass.reach is Reach.PAIR)
def test_old_pairs_are_left_out_if_a_pair_depends_only_on_its_two_articles(name, small_corpus) -> None:
    assert issubclass(PASSES[name].config_class, NearConfig)
    revisions = dict(Article.objects.values_list("pk", "revision"))
    every = find(name)
    for newer_than in (0, sorted(revisions.values())[4], max(revisions.values())):
        fresh = [pair for pair in every if max(revisions[pair.left], revisions[pair.right]) > newer_than]
        assert sorted(find(name, dataclasses.replace(DAYS, newer_than=newer_than))) == sorted(fresh)


@every_pass_that(lambda detection_pass: "threshold" in settings_of(detection_pass.config_class))
def test_a_lower_threshold_finds_all_that_a_higher_one_finds(name, store) -> None:
    nouns = ("ferry", "council", "lighthouse", "library", "orchestra", "brewery", "bakery", "tramway", "mayor")
    told = [f"The {noun} of Port Selby will say on Friday what the {noun}s up the river have to do." for noun in nouns]
    other = [f"A {noun} in the hills was not at all like this and has to be seen by a {noun} keeper." for noun in nouns]
    for changed in range(len(nouns) + 1):
        store(" ".join(other[:changed] + told[changed:]))
    detection_pass = PASSES[name]
    found: set[tuple[int, int]] = set()
    sizes = []
    for threshold in (0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.6, 0.5, 0.4, 0.3):
        config = make_config(detection_pass.config_class, {"threshold": threshold})
        now = {(candidate.left, candidate.right) for candidate in detection_pass.find(DAYS, config, connection)}
        assert found <= now
        found = now
        sizes.append(len(now))
    assert sizes[0] < sizes[-1]


@EVERY_PASS
def test_a_pass_reports_the_articles_it_reads_and_the_pairs_it_compares(name, small_corpus) -> None:
    read: list[int] = []
    tally = Tally(read.append)
    detection_pass = PASSES[name]
    kept = len(list(detection_pass.find(DAYS, detection_pass.config_class(), connection, tally)))
    assert tally.candidates >= tally.verified >= kept
    if not detection_pass.by_days and detection_pass.reach is Reach.PAIR:
        assert sum(read) == Article.objects.count()


@EVERY_PASS
def test_every_setting_is_declared_in_full(name) -> None:
    for setting, (field, declared) in settings_of(PASSES[name].config_class).items():
        assert re.fullmatch(r"[a-z_]+", setting)
        assert declared.help.endswith(".")
        assert declared.unit
        assert declared.source
        if not isinstance(field.default, bool):
            assert declared.minimum <= field.default <= declared.maximum


@EVERY_PASS
def test_a_value_out_of_range_is_refused_with_the_range(name) -> None:
    config_class = PASSES[name].config_class
    for setting, (field, declared) in settings_of(config_class).items():
        if isinstance(field.default, bool):
            with pytest.raises(ConfigError, match=f"{setting} is 'yes'; it must be of type bool"):
                make_config(config_class, {setting: "yes"})
            continue
        for value in (type(field.default)(declared.minimum - 1), type(field.default)(declared.maximum + 1)):
            with pytest.raises(ConfigError, match=f"{setting} is .*; it must be from"):
                make_config(config_class, {setting: value})


def test_a_score_that_is_not_a_number_and_a_candidate_out_of_order_or_range_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"threshold is nan; it must be from 0\.3 to 1"):
        make_config(TrigramConfig, {"threshold": float("nan")})
    with pytest.raises(ValueError, match=r"pair \(2, 1\) is out of order"):
        Candidate(2, 1, "url", 1.0)
    with pytest.raises(ValueError, match=r"score 1.5 of pair \(1, 2\) is outside 0..1"):
        Candidate(1, 2, "url", 1.5)


BOILERPLATE = (
    "The Harbour Post is printed on the quay by people who love paper and read in every house of the coast. You may "
    "have it brought to your door before the first ferry sails, for less than a loaf of bread a week. Ask the boy "
    "with the red cap at the market hall, or write to the house with the blue door in Mill Lane, 55501 or 55502."
)
STORIES = (
    (
        "A travelling exhibition of two hundred glass negatives opens in the old customs house at Carrack. Schools "
        "may borrow the magic lantern for a week. The collector found the plates under the floor of a bakery and "
        "has kept them in the dark since he was a boy; who wants to see them must bring a candle and patience."
    ),
    f"{WIRE} The crews of the pilot boats have asked for a second crane, which the county will pay in the spring.",
    (
        "Nine lamps of the southern pier went out on Sunday, and divers found that a rope had cut the cable. The "
        "engineers of the county say it has to be built again before the storms come, and that the ferry must not "
        "sail at night until then. Its captain will take the passengers to the island in the afternoon."
    ),
)


@pytest.fixture
def furnished(store):
    """Three different articles of a newspaper, some short ones and copies, with the same lines below them."""
    articles = [store(f"{story}\n\n{BOILERPLATE}", headline=f"Story number {at}") for at, story in enumerate(STORIES)]
    articles += [store(f"{short}\n\n{BOILERPLATE}") for short in ("The tide is high at nine.", "Rain until noon.")]
    articles += [store(BOILERPLATE), store(BOILERPLATE, newspaper="Inland Courier")]
    articles += [store(STORIES[1], newspaper="Inland Courier", headline="Story number 1"), store(STORIES[1])]
    list(mark_weeks(outdated_weeks()))
    return articles


@EVERY_PASS
@pytest.mark.parametrize("mode", list(Mode))
def test_texts_are_compared_as_if_stored_without_what_the_mode_removes(name, mode, furnished) -> None:
    found = find(name, dataclasses.replace(DAYS, boilerplate=mode))
    with_all = find(name)
    for article in Article.objects.select_related("newspaper"):
        content = without_boilerplate(article.content, article.boilerplate, mode)
        forms = dataclasses.asdict(Forms.of(article.newspaper.affixes, article.headline, content))
        Article.objects.filter(pk=article.pk).update(content=content, **forms)
    told = [(pair, pair.evidence) for pair in sorted(find(name))]

    assert [(pair, pair.evidence) for pair in sorted(found)] == told
    differs = mode is not Mode.KEEP and PASSES[name].compares_texts
    assert (sorted(found) != sorted(with_all)) == differs


@EVERY_PASS
def test_articles_of_boilerplate_only_never_match(name, furnished) -> None:
    window = dataclasses.replace(DAYS, boilerplate=Mode.TOPIC)
    empty = set(Article.objects.filter(topic_text="").values_list("pk", flat=True))
    assert len(empty) == 1
    assert not [pair for pair in find(name, window) if empty & {pair.left, pair.right}]
