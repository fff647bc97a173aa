"""Profiles: validated settings, and the form that is generated from what the passes declare."""

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from dedup.declarations import settings_of
from dedup.detection.passes import PASSES
from dedup.detection.passes.trigram import TrigramConfig
from dedup.detection.runs.profiles import ProfileError, configs_of, default_profile, snapshot
from dedup.models import Profile
from tests.dedup.views.test_profiles import fields_of

pytestmark = pytest.mark.django_db

# What the default profile begins with.
PROPOSING = {"containment": {"enabled": True}}


def test_there_is_a_default_profile_that_also_proposes_by_contained_text() -> None:
    profile = default_profile()
    assert (profile.name, profile.settings) == ("default", PROPOSING)
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


@pytest.fixture
def admin(client):
    client.force_login(get_user_model().objects.create_superuser("root"))
    return client


def form_of(admin, profile: Profile) -> dict:
    """Return what a browser would post back unchanged."""
    return fields_of(admin.get(reverse("profile", args=[profile.pk])).context["form"])


def test_the_form_has_every_setting_with_its_range_and_help(admin) -> None:
    html = admin.get(reverse("profile", args=[default_profile().pk])).content.decode()
    for name, detection_pass in PASSES.items():
        # Nothing is found, so there is nothing to hide.
        for setting in settings_of(detection_pass.config_class).keys() - {"retired"}:
            assert f'name="{name}__{setting}"' in html
    assert "From 0 to 365; usually 3." in html
    assert "50 to 100,000,000" not in html


def test_saving_stores_only_what_differs_from_the_defaults_and_refuses_the_rest(admin) -> None:
    profile = default_profile()
    address = reverse("profile", args=[profile.pk])
    form = form_of(admin, profile)
    faults = {"trigram__threshold": "1.4", "is_default": ""}
    html = admin.post(address, form | faults).content.decode()
    assert "Ensure this value is less than or equal to 1.0." in html
    assert "One profile must be the default." in html
    profile.refresh_from_db()
    assert profile.settings == PROPOSING

    changed = form | {"trigram__threshold": "0.7", "trigram__day_window": "5", "same_as": "copies"}
    del changed["exact__enabled"]
    assert admin.post(address, changed).status_code == 302
    profile.refresh_from_db()
    wanted = PROPOSING | {"exact": {"enabled": False}, "trigram": {"threshold": 0.7, "day_window": 5}}
    assert (profile.same_as, profile.settings) == ("copies", wanted)
    admin.post(address, form_of(admin, profile))
    profile.refresh_from_db()
    assert profile.settings == wanted


def test_a_new_default_takes_the_place_of_the_old_one(admin) -> None:
    form = form_of(admin, default_profile()) | {"name": "strict", "is_default": "on", "trigram__threshold": "0.9"}
    assert admin.post(reverse("profile_new"), form).status_code == 302
    assert default_profile().name == "strict"
    assert Profile.objects.filter(is_default=True).count() == 1
