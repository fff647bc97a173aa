"""What a run says of what others found, and newspapers with windows and thresholds of their own."""

import dataclasses
from collections.abc import Mapping

import pytest

from articles.models import Article, Newspaper
from articles.storage.ingest import store_articles
from dedup.detection.bounds import Rule, bounds_of
from dedup.detection.passes import PASSES
from dedup.detection.runs.blocks import dry_run
from dedup.detection.runs.phases import NO_PROGRESS
from dedup.detection.runs.profiles import (
    Configs,
    ProfileError,
    choose_passes,
    configs_of,
    default_profile,
    override,
    rules_of,
)
from dedup.detection.runs.scope import Scope, judged_by
from dedup.models import Cluster, DetectionRun, Evidence, Pair, Profile, ProfileRule
from tests.dedup.runs.running import find_duplicates, forget_runs, live_rows
from tests.dedup.runs.test_incremental import OPENINGS, invented
from tests.factories import make_collection

pytestmark = pytest.mark.django_db

EVERY = ",".join(PASSES)


def stale() -> list[str]:
    return sorted(Evidence.objects.filter(stale=True).values_list("pass_name", flat=True))


def test_a_second_profile_without_a_pass_takes_none_of_its_pairs_away_unless_it_retires_it(store) -> None:
    store(" ".join(OPENINGS))
    store(f"{OPENINGS[2]} {' '.join(reversed(OPENINGS[0].split()))} {OPENINGS[3]}", date="2026-03-20")
    assert find_duplicates()["passes"]["containment"]["pairs"] == 1
    before = live_rows()
    # As the form saved it: every setting at the default of the code, but one.
    loose = Profile.objects.create(name="loose", settings={"trigram": {"threshold": 0.35}})
    assert find_duplicates("--profile=loose")["stale"] == 0
    assert live_rows() == before
    assert Pair.objects.proposed().count() == 1
    loose.settings["containment"] = {"retired": True}
    loose.save()
    assert find_duplicates("--profile=loose", "--passes=trigram")["stale"] == 0
    assert (find_duplicates("--profile=loose")["stale"], Cluster.objects.count()) == (1, 0)
    assert not Pair.objects.proposed().exists()
    # The next run of the default profile finds it again, also if it only looks for what is new.
    assert "containment" not in find_duplicates("--new")["scope"]["newer_than"]
    assert live_rows() == before


SAYS_SOMETHING = {
    "--passes=trigram": True,
    "--threshold=trigram=0.85": True,  # found at 0.89: it would be found here too
    "--threshold=trigram=0.9": False,
    "--day-window=trigram=2": True,
    "--day-window=trigram=1": False,
    "--prefix=trigram=2000": False,  # other texts, other scores
    "--boilerplate=topic": False,
    "--passes=exact": False,
}


def test_a_run_says_nothing_of_what_its_settings_would_not_find(store) -> None:
    text = " ".join(OPENINGS[:3])
    store(text)
    other = store(f"{text} {OPENINGS[3][:60]}", date="2026-03-04")
    Profile.objects.update(settings={name: {"enabled": name in ("trigram", "exact")} for name in PASSES})
    first = find_duplicates()["run"]
    [found] = Evidence.objects.all()
    assert 0.88 < found.score < 0.9
    # What the earlier run found is no longer so.
    other.normalized_text = "glass negatives"
    other.save()
    for option, gone in SAYS_SOMETHING.items():
        find_duplicates(option)
        found.refresh_from_db()
        assert (option, found.stale, found.run_id) == (option, gone, first)
        Evidence.objects.update(stale=False)


def test_a_pair_that_a_dense_group_leaves_out_stays_and_retiring_hides_it(store) -> None:
    for number in range(6):
        store(f"{' '.join(OPENINGS)} edition{number}")
    find_duplicates("--passes=trigram")
    Profile.objects.update(settings={"trigram": {"dense_from": 3, "kept_pairs": 1}})
    assert (find_duplicates("--passes=trigram")["stale"], Evidence.objects.count()) == (0, 15)
    Profile.objects.update(settings={"trigram": {"dense_from": 3, "kept_pairs": 1, "retired": True}})
    assert find_duplicates("--passes=trigram", "--new")["stale"] > 0
    assert find_duplicates("--passes=trigram", "--new")["scope"]["newer_than"].keys() == {"trigram"}


RULES = (
    ("Harbour Post", None, {"trigram": {"threshold": 0.4, "day_window": 6}, "title": {"days_apart": 5}}, False),
    ("Inland Courier", None, {"trigram": {"threshold": 0.9}, "sentence": {"threshold": 0.5}}, False),
    ("Coastal Times", "Inland Courier", {"stopword": {"day_window": 0}, "containment": {"day_window": 2}}, False),
    ("Harbour Post", "Coastal Times", {}, True),
    ("Coastal Times", "Coastal Times", {"minhash": {"threshold": 0.95}}, False),
)


POST, COURIER, TIMES = "Harbour Post", "Inland Courier", "Coastal Times"
# What the rules say of every two newspapers, by hand; None: left out.
BETWEEN: dict[tuple[str, str], dict[str, dict[str, float]] | None] = {
    (POST, POST): {"trigram": {"threshold": 0.4, "day_window": 6}, "title": {"days_apart": 5}},
    (POST, COURIER): {
        "trigram": {"threshold": 0.9, "day_window": 6},
        "title": {"days_apart": 5},
        "sentence": {"threshold": 0.5},
    },
    (COURIER, COURIER): {"trigram": {"threshold": 0.9}, "sentence": {"threshold": 0.5}},
    (TIMES, COURIER): {"stopword": {"day_window": 0}, "containment": {"day_window": 2}},
    (TIMES, POST): None,
    (TIMES, TIMES): {"minhash": {"threshold": 0.95}},
}


def dry(configs: Configs, scope: Scope) -> dict[tuple[int, int], dict[str, float]]:
    return dict(dry_run(configs, scope, progress=NO_PROGRESS)[1])


def combined(configs: Configs) -> Mapping[tuple[int, int], dict[str, float]]:
    """Return the pairs of a run of its own for every two newspapers, with their bounds as those of the profile."""
    newspapers = dict(Article.objects.values_list("pk", "newspaper__name"))
    every: dict[tuple[int, int], dict[str, float]] = {}
    for between, settings in BETWEEN.items():
        own = configs
        for name, values in (settings or {}).items():
            for setting, value in values.items():
                own = override(own, setting, value, only=name)
        found = {} if settings is None else dry(own, Scope())
        every |= {
            pair: scores
            for pair, scores in found.items()
            if sorted(newspapers[article] for article in pair) == sorted(between)
        }
    return every


@pytest.mark.slow
@pytest.mark.parametrize("seed", [11, pytest.param(12, marks=pytest.mark.soak)])
def test_rules_give_the_pairs_of_separate_runs_combined(seed: int) -> None:
    articles = [
        dataclasses.replace(article, newspaper="Coastal Times") if place % 3 == 0 else article
        for place, article in enumerate(invented(seed, 70))
    ]
    store_articles(articles[:50])
    profile = default_profile()
    configs = choose_passes(configs_of({"title": {"across_newspapers": True}}), list(PASSES))
    without = dry(configs, Scope())
    for first, second, settings, left_out in RULES:
        ids = sorted(Newspaper.objects.get(name=name).pk for name in (first, second) if name)
        ends = {"newspaper_id": ids[0], "other_id": ids[-1] if second else None}
        ProfileRule.objects.create(profile=profile, **ends, settings=settings, left_out=left_out)
    found = dry(configs, Scope(rules=rules_of(profile)))
    assert {pair: scores for pair, scores in combined(configs).items() if scores} == found
    assert found.keys() - without.keys()
    assert without.keys() - found.keys()

    # A stored run, and one more of what is new, end where the run of all ends, and the plain join agrees.
    find_duplicates("--passes", EVERY)
    store_articles(articles[50:])
    summary = find_duplicates("--passes", EVERY, "--new", "--audit=20")
    assert "trigram" in summary["scope"]["newer_than"]
    assert summary["scope"]["rules"][0]["newspapers"] == ["Harbour Post"]
    step_by_step = live_rows()
    forget_runs()
    find_duplicates("--passes", EVERY)
    assert live_rows() == step_by_step
    # Another rule is another setting: all is compared, and what it does not allow stays until it is hidden.
    courier = Newspaper.objects.get(name=COURIER)
    left_out = ProfileRule.objects.create(profile=profile, newspaper=courier, other=courier, left_out=True)
    summary = find_duplicates("--passes", EVERY, "--new")
    assert (summary["scope"]["newer_than"], summary["stale"], live_rows() == step_by_step) == ({}, 0, True)
    ProfileRule.objects.filter(pk=left_out.pk).update(retired=True)
    find_duplicates("--passes", EVERY, "--new")
    hidden = Evidence.objects.filter(stale=True)
    inside = Evidence.objects.filter(pair__left__newspaper=courier, pair__right__newspaper=courier)
    assert set(hidden) == set(inside)
    assert hidden.count() > 0


def test_only_the_most_particular_rules_of_a_pair_count() -> None:
    # By their lowest scores; a side of one id is a newspaper.
    sides = {
        0.5: [{1, 2, 3}],
        0.55: [{1, 2, 3}, {2, 3, 4}],
        0.65: [{1}],
        0.7: [{1}, {2, 3}],
        0.75: [{1}, {2}],
        0.8: [{2}],
    }
    rules = [
        Rule(
            [*map(frozenset, own)],
            [],
            [None if len(side) == 1 else [] for side in own],
            {"trigram": {"threshold": least}},
        )
        for least, own in sides.items()
    ]
    holding = {(1, 2): 0.75, (1, 3): 0.7, (1, 1): 0.65, (1, 4): 0.65, (2, 2): 0.8, (2, 3): 0.8, (3, 4): 0.55,
               (3, 3): 0.55, (3, 5): 0.5, (4, 5): 0.6}  # fmt: skip
    found = {ids: bounds_of("trigram", configs_of({})["trigram"], rules, *ids).lowest_score for ids in holding}
    assert found == holding


def test_a_rule_for_a_collection_gives_the_pairs_of_rules_for_each_newspaper() -> None:
    articles = invented(13, 40)
    store_articles([dataclasses.replace(one, newspaper=TIMES) if n % 3 == 0 else one for n, one in enumerate(articles)])
    first, second, third = Newspaper.objects.order_by("pk")
    coast, inland = make_collection("owner", "Coast", first, second), make_collection("country", "Inland", third)
    profile, configs = default_profile(), choose_passes(configs_of({}), ["trigram", "title"])

    def found(*rules: dict[str, object]) -> tuple[dict[tuple[int, int], dict[str, float]], dict[str, object]]:
        profile.rules.all().delete()
        for rule in rules:
            settings = {"trigram": {"threshold": 0.45}, "title": {"days_apart": 0}}
            ProfileRule.objects.create(profile=profile, settings=settings, **rule)
        scope = Scope(rules=rules_of(profile))
        return dry(configs, scope), judged_by("trigram", configs["trigram"], scope)

    inside = [{"newspaper": a, "other": b} for a, b in ((first, first), (first, second), (second, second))]
    across = [{"newspaper": paper, "other": third} for paper in (first, second)]
    results = [found()]
    for single, of_collection in (
        ([{"newspaper": first}, {"newspaper": second}], {"collection": coast}),
        (inside, {"collection": coast, "other_collection": coast}),
        (across, {"newspaper": third, "collection": coast}),
        (across, {"collection": coast, "other_collection": inland}),
    ):
        results.append(found(*single))
        assert found(of_collection) == results[-1]
    assert len({str(sorted(pairs)) for pairs, _ in results}) == 4  # the last two are the same
    # A newspaper that joins makes it another rule: all is compared again.
    find_duplicates("--passes=trigram")
    assert find_duplicates("--passes=trigram", "--new")["scope"]["newer_than"]
    coast.newspapers.add(third)
    scope = find_duplicates("--passes=trigram", "--new")["scope"]
    assert (scope["newer_than"], scope["rules"][0]["members"]) == ({}, [sorted([POST, COURIER, TIMES]), [third.name]])


def test_rules_follow_a_merged_newspaper_and_name_what_they_cannot_set(store) -> None:
    old, new = store(newspaper="Harbour Post").newspaper, store(newspaper="Inland Courier").newspaper
    profile = default_profile()
    rule = ProfileRule.objects.create(profile=profile, newspaper=old, settings={"trigram": {"threshold": 0.8}})
    Newspaper.objects.filter(pk=old.pk).update(merged_into=new)
    coast = make_collection("owner", "Coast", old)
    ProfileRule.objects.create(profile=profile, collection=coast, left_out=True)
    said = [(rule.sides, rule.names, rule.members) for rule in rules_of(profile)]
    assert said == [([{new.pk}], ["Inland Courier"], [None]), ([set()], ["Coast (owner)"], [[]])]
    for settings, message in (
        ({"trigram": {"prefix": 500}}, "trigram: a rule cannot set prefix; it sets the lowest score and the most days"),
        ({"trigram": {"threshold": 0.1}}, "trigram: threshold is 0.1; it must be from 0.3 to 1 (similarity, 0..1)"),
    ):
        rule.settings = settings
        rule.save()
        with pytest.raises(ProfileError) as raised:
            rules_of(profile)
        assert str(raised.value) == message


def test_a_stopped_run_is_not_resumed_with_other_rules(store) -> None:
    newspaper = store().newspaper
    find_duplicates()
    DetectionRun.objects.update(state="interrupted")
    ProfileRule.objects.create(profile=default_profile(), newspaper=newspaper, left_out=True)
    assert find_duplicates()["run"] != DetectionRun.objects.earliest("pk").pk
