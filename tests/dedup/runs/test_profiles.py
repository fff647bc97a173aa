"""Profiles: the default one, and what is said of settings that cannot be used."""

import pytest

from dedup.declarations import settings_of
from dedup.detection.passes import PASSES
from dedup.detection.passes.trigram import TrigramConfig
from dedup.detection.runs.profiles import ProfileError, configs_of, default_profile, snapshot
from dedup.models import Profile

pytestmark = pytest.mark.django_db


def test_there_is_a_default_profile_that_also_proposes_by_contained_text() -> None:
    profile = default_profile()
    assert (profile.name, profile.settings) == ("default", {"containment": {"enabled": True}})
    assert snapshot(configs_of(profile.settings))["trigram"] == {
        "enabled": True,
        "retired": False,
        "day_window": 3,
        "prefix": 1000,
        "threshold": 0.6,
        "arbitrated": 100,
        "dense_from": 50,
        "kept_pairs": 2,
    }


def test_without_a_default_the_error_says_what_to_do() -> None:
    Profile.objects.update(is_default=False)
    with pytest.raises(ProfileError, match=r"no profile is the default; .*is default.*page"):
        default_profile()


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        ({"simhash": {}}, f"there is no pass 'simhash'; the passes are {', '.join(PASSES)}"),
        (
            {"trigram": {"window": 3}},
            f"trigram: there is no setting 'window'; the settings are {', '.join(settings_of(TrigramConfig))}",
        ),
        ({"trigram": {"threshold": 0.1}}, "trigram: threshold is 0.1; it must be from 0.3 to 1 (similarity, 0..1)"),
        (
            {"trigram": {"prefix": "1000"}},
            "trigram: prefix is '1000'; it must be of type int (characters of normalised text)",
        ),
        ([], "the settings of a profile are []; they must be a JSON object of passes"),
        ({"exact": 5}, "exact: the settings are 5; they must be a JSON object of values"),
        ({"url": {"enabled": 1}}, "url: enabled is 1; it must be of type bool (yes or no)"),
    ],
)
def test_stored_settings_that_cannot_be_used_are_named(stored: dict, message: str) -> None:
    with pytest.raises(ProfileError) as raised:
        configs_of(stored)
    assert str(raised.value) == message
