"""A run compares texts with boilerplate or without, as its profile says, and looks for it first."""

import re

import pytest

from articles.boilerplate.mode import Mode
from articles.models import Article, BoilerplateWeek
from articles.storage.boilerplate_marks import outdated_weeks
from dedup.detection.passes import PASSES
from dedup.detection.runs.judging import features_of_pairs, terms_in_force
from dedup.detection.runs.outdated_verdicts import outdated_verdicts
from dedup.detection.verdicts.reasons import NOTHING_LEFT
from dedup.models import DetectionRun, Pair, Profile
from tests.conftest import StoreArticle
from tests.dedup.passes.test_contract import BOILERPLATE, STORIES
from tests.dedup.runs.running import command, find_duplicates

pytestmark = pytest.mark.django_db


@pytest.fixture
def furnished(store: StoreArticle) -> list[Article]:
    """Store three different articles and two short ones with the same lines below them, and a copy without."""
    below = [*STORIES, "The tide is high at nine.", "Rain until noon."]
    articles = [store(f"{story}\n\n{BOILERPLATE}") for story in below]
    return [*articles, store(STORIES[1], newspaper="Inland Courier")]


def found_pairs() -> dict[tuple[int, int], str]:
    pairs = Pair.objects.proposed()
    return {(left, right): verdict for left, right, verdict in pairs.values_list("left", "right", "verdict")}


def test_boilerplate_is_kept_and_without_it_what_only_that_joined_is_found_no_more(furnished: list[Article]) -> None:
    find_duplicates()
    assert (furnished[3].pk, furnished[4].pk) in found_pairs()
    assert not BoilerplateWeek.objects.exists()
    assert DetectionRun.objects.get().boilerplate is Mode.KEEP
    Profile.objects.update(boilerplate="topic")
    find_duplicates()
    assert len(found_pairs()) > 1  # it says nothing of what other texts had in common
    Profile.objects.update(settings={name: {"retired": True} for name in PASSES})
    found = find_duplicates()

    assert found_pairs() == {(furnished[1].pk, furnished[5].pk): "duplicate"}
    assert found["scope"]["boilerplate"] == "topic"
    assert outdated_weeks() == {}
    # Nothing is left to do, and the comparison is the same.
    assert outdated_verdicts(terms_in_force(Mode.TOPIC)).pairs == 0
    assert outdated_verdicts(terms_in_force()).pairs == 1


def test_an_option_stands_over_the_profile(furnished: list[Article]) -> None:
    assert find_duplicates("--boilerplate", "story")["scope"]["boilerplate"] == "story"
    # In the first article of the week the lines are text, and it has more of its own.
    assert found_pairs() == {(furnished[1].pk, furnished[5].pk): "duplicate"}


def test_a_run_of_new_articles_compares_all_once_the_mode_has_changed(furnished: list[Article]) -> None:
    find_duplicates()
    assert find_duplicates("--new")["scope"]["newer_than"].keys() >= {"trigram"}
    assert find_duplicates("--new", "--boilerplate", "topic")["scope"]["newer_than"] == {}
    every = found_pairs()
    assert find_duplicates("--new", "--boilerplate", "topic")["scope"]["newer_than"].keys() >= {"trigram"}
    assert found_pairs() == every


def test_a_run_of_new_articles_sees_what_new_boilerplate_changes(furnished: list[Article], store: StoreArticle) -> None:
    Profile.objects.update(boilerplate="topic")
    Article.objects.filter(pk__in=[furnished[0].pk, furnished[2].pk]).update(date="2026-03-20")
    find_duplicates()
    assert (furnished[3].pk, furnished[4].pk) in found_pairs()

    for at in (0, 2):
        store(f"{STORIES[at]}\n\n{BOILERPLATE}", date="2026-03-05")
    find_duplicates("--new")
    assert (furnished[3].pk, furnished[4].pk) not in found_pairs()
    by_parts = found_pairs()
    find_duplicates()
    assert found_pairs() == by_parts


def test_the_audit_makes_the_join_of_the_same_texts(furnished: list[Article]) -> None:
    for mode in Mode:
        find_duplicates("--boilerplate", mode.value, "--audit", "1")


def test_a_dry_run_marks_nothing_and_says_so(furnished: list[Article]) -> None:
    _, said = command("find_duplicates", "--dry-run", "--boilerplate=topic")
    assert re.fullmatch(r"Weeks .*: 1\. .*manage\.py find_boilerplate\.\n", said)
    assert not BoilerplateWeek.objects.exists()


def test_a_pair_of_which_nothing_is_left_is_no_duplicate(furnished: list[Article], store: StoreArticle) -> None:
    bare = [store(BOILERPLATE, headline="A kite over Carrack all day long") for _ in range(2)]
    find_duplicates("--passes", "title")
    assert found_pairs() == {(bare[0].pk, bare[1].pk): "duplicate"}
    find_duplicates("--passes", "title", "--boilerplate", "topic")

    assert found_pairs() == {(bare[0].pk, bare[1].pk): "similar"}
    assert Pair.objects.get().reasons[0] == NOTHING_LEFT


def test_features_are_those_of_the_last_run(furnished: list[Article]) -> None:
    ends = (furnished[3].pk, furnished[4].pk)
    find_duplicates()
    kept = features_of_pairs([ends])[ends]
    find_duplicates("--boilerplate", "topic")
    assert features_of_pairs([ends])[ends] != kept
    find_duplicates()
    assert features_of_pairs([ends])[ends] == kept
