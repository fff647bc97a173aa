"""The pages of profiles: copies, what is refused, what the settings would do, rules for newspapers."""

import html
import re

import pytest
from django.test import Client
from django.urls import reverse
from lxml.html import document_fromstring

from articles.models import Newspaper
from dedup.declarations import settings_of
from dedup.detection.passes import PASSES
from dedup.detection.runs.profiles import configs_of, default_profile, override
from dedup.models import Evidence, Pair, Profile, ProfileRule
from dedup.review.rules import profiles as review_profiles
from dedup.review.rules.profiles import effects, save_profile
from tests.conftest import StoreArticle
from tests.factories import make_collection, make_pair
from tests.pages import opened

pytestmark = pytest.mark.django_db


def fields_of(form) -> dict:
    """Return what a browser would post back unchanged."""
    values = {name: form[name].value() for name in form.fields}
    return {name: value for name, value in values.items() if value is not False and value is not None}


def text_of(answer) -> str:
    words = re.sub(r"<[^>]+>", " ", answer.content.decode())
    return " ".join(html.unescape(words).split())


def test_a_new_profile_is_a_copy(admin_client: Client, store: StoreArticle) -> None:
    default = default_profile()
    default.settings = {"sentence": {"enabled": True, "threshold": 0.1}, "trigram": {"retired": True}}
    default.boilerplate, default.same_as = "topic", "states"
    default.save()
    ProfileRule.objects.create(profile=default, newspaper=store().newspaper, left_out=True)
    posted = fields_of(admin_client.get(reverse("profile_new")).context["form"])
    posted |= {"name": "loose", "trigram__threshold": "0.35"}
    assert admin_client.post(reverse("profile_new"), posted).status_code == 302
    made = Profile.objects.get(name="loose")
    assert made.settings == {**default.settings, "trigram": {"threshold": 0.35, "retired": True}}
    assert (made.boilerplate, made.same_as, made.is_default) == ("topic", "states", False)
    assert list(made.rules.values_list("newspaper__name", "left_out")) == [("Harbour Post", True)]
    strict = Profile.objects.create(name="strict", settings={"trigram": {"threshold": 0.9}})
    form = admin_client.get(reverse("profile_new"), {"copy": strict.pk}).context["form"]
    assert (form["name"].value(), form["trigram__threshold"].value()) == ("Copy of strict", 0.9)
    assert f"?copy={strict.pk}" in opened(admin_client, "profiles")
    assert admin_client.post(reverse("profile_new"), posted | {"name": "new", "is_default": "on"}).status_code == 302
    assert Profile.objects.get(is_default=True).name == "new"


def test_what_hides_a_fault_is_open(admin_client: Client) -> None:
    address = reverse("profile", args=[default_profile().pk])
    posted = fields_of(admin_client.get(address).context["form"])
    for name, value in (("asked_from", "7"), ("minhash__slots", "100"), ("sentence__most_articles", "")):
        answer = admin_client.post(address, posted | {name: value, "preview": "1"})
        page = document_fromstring(answer.content)
        (fault,) = page.find_class("field-error")
        assert {fold.get("open") for fold in fault.iterancestors("details")} == {""}
        assert "Nothing is saved yet" not in page.text_content()


def test_all_faults_are_shown_at_once_and_a_profile_needs_a_pass(admin_client: Client) -> None:
    address = reverse("profile", args=[default_profile().pk])
    page = admin_client.get(address)
    whole = page.content.decode().split("</header>")[1]
    folded = document_fromstring(whole)
    for part in folded.xpath("//details/*[not(self::summary)]"):
        part.drop_tree()
    first = " ".join(folded.text_content().split())
    assert not [word for word in ("Arbitrated", "Slots", "Recall", "Source", "1e+08", "MMDS") if word in whole]
    assert not [word for word in ("hingle", "sketch", "dense", "Boilerplate") if word in first]
    assert "Similar text at most 3 days apart, score from 0.6 no pairs yet Similar text, any time off" in first
    assert "From 0 to 365; usually 3." in whole
    assert "50 to 100,000,000" not in whole
    for name, detection_pass in PASSES.items():
        # Nothing is found, so there is nothing to hide.
        for setting in settings_of(detection_pass.config_class).keys() - {"retired"}:
            assert f'name="{name}__{setting}"' in whole
    posted = {name: value for name, value in fields_of(page.context["form"]).items() if not name.endswith("__enabled")}
    posted |= {"name": "", "trigram__threshold": "1.4", "trigram__day_window": "many", "minhash__slots": "100"}
    del posted["is_default"]
    answer = admin_client.post(address, posted)
    assert answer.status_code == 400
    errors = answer.context["form"].errors
    assert errors.keys() == {
        "name", "trigram__threshold", "trigram__day_window", "minhash__slots", "is_default", "__all__"
    }  # fmt: skip
    assert errors["is_default"] == ["One profile must be the default. To change it, tick this box on another."]
    assert errors["trigram__threshold"] == ["Ensure this value is less than or equal to 1.0."]
    assert errors["minhash__slots"] == ["It is 100; it must be a power of two, such as 128, 256 or 512."]
    assert "No pass is in use: runs would find nothing." in text_of(answer)
    assert default_profile().settings == {"containment": {"enabled": True}}


def test_saving_stores_only_what_differs_from_the_defaults(admin_client: Client) -> None:
    address = reverse("profile", args=[default_profile().pk])
    changed = fields_of(admin_client.get(address).context["form"])
    changed |= {"trigram__threshold": "0.7", "trigram__day_window": "5", "same_as": "copies"}
    del changed["exact__enabled"]
    wanted = {"exact": {"enabled": False}, "trigram": {"threshold": 0.7, "day_window": 5}}
    for given in (changed, None):
        posted = given or fields_of(admin_client.get(address).context["form"])
        assert admin_client.post(address, posted).status_code == 302
        saved = default_profile()
        assert (saved.same_as, saved.settings) == ("copies", {"containment": {"enabled": True}} | wanted)


def test_the_form_says_what_its_settings_would_do(admin_client: Client, store: StoreArticle) -> None:
    articles = [store(f"text {number}", date=f"2026-03-0{1 + number % 5}") for number in range(8)]
    scores = [0.62, 0.66, 0.71, 0.74, 0.83, 0.99, 1.0]
    pairs = [
        make_pair(articles[0], article, trigram=score) for article, score in zip(articles[1:], scores, strict=True)
    ]
    states = ["confirmed", "rejected", "confirmed", "undecided", "confirmed", "undecided", "rejected"]
    for pair, state in zip(pairs, states, strict=True):
        Pair.objects.filter(pk=pair.pk).update(state=state, days_apart=pair.pk == pairs[4].pk and 3)
    Evidence.objects.create(pair=pairs[1], pass_name="exact", score=1, run=pairs[0].evidence.get().run)
    Evidence.objects.filter(pair=pairs[5]).update(stale=True)
    strict = override(override(configs_of({}), "threshold", 0.7, only="trigram"), "day_window", 2, only="trigram")
    found = effects(strict)["trigram"]
    # Kept: 0.71, 0.74 and 1.0. Not kept: 0.62 and 0.66 below the line, and 0.83 because it is three days apart.
    assert (found.found, found.kept, found.rest) == (6, 3, 3)
    assert (found.lost, found.spared, found.alone) == (2, 1, 2)
    # Bars of a fiftieth: 0.62, 0.66, 0.7, 0.74, 0.82 and 0.98; the line is at 0.7 of 500.
    assert [(x, kept) for x, _, _, _, kept in found.bars] == [
        (310, False), (330, False), (350, True), (370, True), (410, True), (490, True)
    ]  # fmt: skip
    assert (found.line_x, {height for _, _, _, height, _ in found.bars}) == (350, {90})

    profile = default_profile()
    address = reverse("profile", args=[profile.pk])
    form = admin_client.get(address).context["form"]
    posted = fields_of(form) | {"trigram__threshold": "0.7", "trigram__day_window": "2", "preview": "1"}
    answer = admin_client.post(address, posted)
    words = text_of(answer)
    assert "Nothing is saved yet." in words
    assert "Of 6 pairs found so far, these settings would find 3 again and not the other 3." in words
    assert "Editors confirmed 2 of these and rejected 1." in words
    assert (
        "If ticked, the next run with this profile hides 3 pairs of this pass. No other pass has found 2 of them"
        in words
    )
    assert '<line x1="350.0"' in answer.content.decode()
    assert default_profile().settings == profile.settings


def test_rules_are_made_changed_and_deleted(admin_client: Client, store: StoreArticle) -> None:
    profile = default_profile()
    post, courier = (store(newspaper=name).newspaper for name in ("Harbour Post", "Inland Courier"))
    merged = Newspaper.objects.create(name="Old Post", merged_into=post)
    new = reverse("profile_rule_new", args=[profile.pk])
    page = admin_client.get(new)
    assert (merged.pk, "Old Post") not in list(page.context["form"].fields["newspaper"].choices)
    assert 'placeholder="0.6"' in page.content.decode()
    posted = {"newspaper": courier.pk, "other": post.pk, "trigram__threshold": "0.4", "trigram__day_window": "7"}
    assert admin_client.post(new, posted).status_code == 302
    [rule] = ProfileRule.objects.all()
    assert (rule.newspaper, rule.other) == (post, courier)
    assert rule.settings == {"trigram": {"threshold": 0.4, "day_window": 7}}
    words = text_of(admin_client.get(reverse("profile", args=[profile.pk])))
    assert "Harbour Post and Inland Courier : Similar text: at most 7 days apart, score from 0.4." in words
    assert "Because of these rules, Similar text looks further for all newspapers" in words

    refused = admin_client.post(
        new, {"newspaper": post.pk, "other": courier.pk, "left_out": "on", "trigram__threshold": "7"}
    )
    assert refused.context["form"].errors.keys() == {"newspaper", "trigram__threshold"}
    assert "This rule would change nothing." in text_of(admin_client.post(new, {"newspaper": post.pk}))
    address = reverse("profile_rule", args=[profile.pk, rule.pk])
    assert admin_client.post(address, {"newspaper": post.pk, "left_out": "on"}).status_code == 302
    rule.refresh_from_db()
    assert (rule.other, rule.settings, rule.left_out) == (None, {}, True)
    assert admin_client.post(reverse("profile_rule_delete", args=[profile.pk, rule.pk])).status_code == 302
    assert not ProfileRule.objects.exists()


def test_a_rule_is_for_a_collection_and_goes_with_it(admin_client: Client, store: StoreArticle) -> None:
    profile, post = default_profile(), store(newspaper="Harbour Post").newspaper
    coast, new = make_collection("owner", "Coast Media", post), reverse("profile_rule_new", args=[profile.pk])
    assert "would change nothing" in text_of(admin_client.post(new, {"newspaper": -coast.pk}))
    for other in ("", post.pk, -coast.pk):
        admin_client.post(new, {"newspaper": -coast.pk, "other": other, "trigram__threshold": "0.8"})
    sides = list(profile.rules.values_list(*ProfileRule.SIDES))
    assert sides == [(None, None, coast.pk, None), (post.pk, None, coast.pk, None), (None, None, coast.pk, coast.pk)]
    words = text_of(admin_client.get(reverse("profile", args=[profile.pk])))
    assert "Harbour Post and Coast Media (owner) (1 newspaper) : Similar text: score from 0.8." in words
    again = admin_client.post(new, {"newspaper": post.pk, "other": -coast.pk})
    assert again.context["form"].errors.keys() == {"newspaper"}
    page = admin_client.get(reverse("profile_rule", args=[profile.pk, profile.rules.all()[1].pk]))
    assert f'value="-{coast.pk}" selected' in page.content.decode()
    # One without numbers says that a newspaper follows the profile, not the rule of its collection.
    admin_client.post(new, {"newspaper": post.pk})
    admin_client.post(reverse("collection_delete", args=[coast.pk]))
    assert list(profile.rules.values_list("newspaper", "settings")) == [(post.pk, {})]


def test_the_default_profile_is_not_deleted_and_others_are(admin_client: Client) -> None:
    other = Profile.objects.create(name="strict")
    for profile in (default_profile(), other):
        admin_client.post(reverse("profile_delete", args=[profile.pk]))
    assert [profile.name for profile in Profile.objects.all()] == ["default"]


def test_a_saved_profile_replaces_the_default_takes_rules_and_moves_the_questions(
    store: StoreArticle, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduled: list[Profile] = []
    monkeypatch.setattr(review_profiles, "schedule_nightly", scheduled.append)
    renewed: list[object] = []
    monkeypatch.setattr(review_profiles, "update_questions", renewed.append)
    before = default_profile()
    papers = [store(newspaper=name).newspaper for name in ("A", "B")]
    ProfileRule.objects.create(
        profile=before, newspaper=papers[0], settings={"trigram": {"threshold": 0.9}}, left_out=True, retired=True
    )
    ProfileRule.objects.create(profile=before, newspaper=papers[0], other=papers[1])

    copy = Profile(name="Copy", asked_from=before.asked_from)
    save_profile(copy, rules_of=before)
    assert default_profile() == before
    assert list(copy.rules.order_by("pk").values_list("newspaper", "other", "settings", "left_out", "retired")) == [
        (papers[0].pk, None, {"trigram": {"threshold": 0.9}}, True, True),
        (papers[0].pk, papers[1].pk, {}, False, False),
    ]
    assert before.rules.count() == 2
    assert (scheduled, renewed) == ([], [])
    copy.is_default = True
    save_profile(copy, reschedule=True)
    assert list(Profile.objects.filter(is_default=True)) == [copy]
    assert (scheduled, renewed, copy.rules.count()) == ([copy], [], 2)
    copy.asked_from = 0.45
    save_profile(copy)
    assert (scheduled, renewed) == ([copy], [None])
    other = Profile(name="Other", asked_from=0.2)
    save_profile(other)
    assert renewed == [None]
