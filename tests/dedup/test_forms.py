"""What the forms of the pages ask, explain, accept and refuse."""

import dataclasses
import datetime
from decimal import Decimal
from typing import Any

import pytest
from django import forms
from django.http import QueryDict
from lxml import html

from articles.models import Newspaper
from articles.numbers import MAX_NUMBER
from dedup.answers import BUTTONS, Answer
from dedup.declarations import Setting, option_name, settings_of
from dedup.detection.passes import PASSES
from dedup.detection.runs.scope import Scope
from dedup.forms.base import (
    BatchForm,
    CheckForm,
    ClusterForm,
    ClusterMergeForm,
    CollisionForm,
    DeclarationForm,
    GroupConfirmForm,
    MemberForm,
    MergeForm,
    ModelForm,
    NoteForm,
    PairDecisionForm,
    ReportForm,
    RunForm,
    ScopeForm,
    SettleForm,
    SliderInput,
    SplitForm,
    TokenForm,
    WebhookForm,
    setting_field,
)
from dedup.forms.profiles import ProfileForm, RuleForm
from dedup.models import Profile
from dedup.reports import REPORTS
from dedup.review.answers.batches import ANSWERS
from tests.conftest import StoreArticle
from tests.factories import make_user

OUT_OF_DATE = "This page is out of date. Reload it and decide again."
REQUIRED = "This field is required."


def query(**values: Any) -> QueryDict:
    """Return what a browser sends: lists as fields of one name."""
    data = QueryDict(mutable=True)
    for name, value in values.items():
        data.setlist(name, value if isinstance(value, list) else [value])
    return data


def said(form: forms.Form) -> dict[str, list[str]]:
    """Return what a posted form says is wrong, by field."""
    return {name: list(errors) for name, errors in form.errors.items()}


# ---- decisions ----


def test_a_decision_on_a_pair_needs_a_kind_and_what_the_page_showed() -> None:
    form = PairDecisionForm(query(seen="7", kind="confirm", note="why"))
    assert said(form) == {}
    assert form.cleaned_data == {"note": "why", "seen": 7, "kind": "confirm"}
    assert said(PairDecisionForm(query())) == {"seen": [OUT_OF_DATE], "kind": [REQUIRED]}
    assert said(PairDecisionForm(query(seen="0", kind="confirm"))) == {}
    assert said(PairDecisionForm(query(seen="-1", kind="keep"))) == {
        "seen": ["Ensure this value is greater than or equal to 0."],
        "kind": ["Select a valid choice. keep is not one of the available choices."],
    }
    kinds = [value for value, _ in PairDecisionForm().fields["kind"].choices]
    assert kinds == list(Answer)
    answers = [value for value, _ in SettleForm().fields["kind"].choices]
    assert answers == BUTTONS


@pytest.mark.parametrize(
    ("form", "name", "least"),
    [
        (PairDecisionForm, "seen", 0),
        (CollisionForm, "decision", 1),
        (DeclarationForm, "left", 1),
        (DeclarationForm, "right", 1),
        (ClusterMergeForm, "other", 1),
        (MemberForm, "article", 1),
    ],
)
def test_a_number_of_a_row_is_between_the_least_and_the_highest(form: type[forms.Form], name: str, least: int) -> None:
    given = [least - 1, least, MAX_NUMBER, MAX_NUMBER + 1]
    refused = [name in form(query(**{name: str(number)})).errors for number in given]
    assert refused == [True, False, False, True]
    assert name in form(query()).errors


def test_a_note_is_optional_and_bounded_and_what_is_missing_is_named() -> None:
    assert NoteForm(query()).is_valid()
    assert NoteForm(query(note="x" * 2_000)).is_valid()
    assert said(NoteForm(query(note="x" * 2_001))) == {
        "note": ["Ensure this value has at most 2000 characters (it has 2001)."]
    }

    assert said(ClusterMergeForm(query(seen="1-a"))) == {"other": ["Name the cluster to merge with by its number."]}
    assert said(GroupConfirmForm(query())) == {"seen": [OUT_OF_DATE]}
    assert "seen" in GroupConfirmForm(query(seen="x" * 65)).errors
    assert GroupConfirmForm(query(seen="x" * 64)).is_valid()
    assert said(ModelForm(query(model="x" * 21))) == {
        "model": ["Ensure this value has at most 20 characters (it has 21)."]
    }
    assert ModelForm(query(model="x" * 20)).is_valid()


def test_a_decision_on_a_cluster_says_what_the_page_showed_and_what_was_ticked() -> None:
    assert said(ClusterForm(query())) == {"seen": [OUT_OF_DATE]}
    assert "seen" in ClusterForm(query(seen="x" * 101)).errors
    assert said(ClusterForm(query(seen="x" * 100))) == {}

    form = SplitForm(query(seen="3-abc", tick=["9", "4,9"]))
    assert said(form) == {}
    assert form.cleaned_data["tick"] == [9, 4]
    form = SplitForm(query(seen="3-abc"))
    assert said(form) == {}
    assert form.cleaned_data["tick"] == []
    for number in ("", "0", str(10**30)):
        assert "tick" in SplitForm(query(seen="3-abc", tick=f"3,{number}")).errors
    number = f"“{'x' * 40}” is not a valid article number. Reload this page and try again."
    assert said(SplitForm(query(seen="3-abc", tick=["3", "x" * 50]))) == {"tick": [number]}
    assert form["tick"].field.widget.is_hidden


def test_a_batch_is_answered_with_what_a_batch_can_say() -> None:
    form = BatchForm(query(kind="reject", sample="59"))
    assert said(form) == {}
    assert form.cleaned_data == {"kind": "reject", "sample": 59}
    assert [value for value, _ in form.fields["kind"].choices] == ANSWERS
    assert form.fields["sample"].choices == [(20, "20"), (59, "59"), (149, "149")]
    assert set(said(BatchForm(query(kind="unsure", sample="60")))) == {"kind", "sample"}


# ---- settings as fields ----


def declared(**values: Any) -> Setting:
    return Setting(**({"help": "How many.", "unit": "days", "source": "a study"} | values))


def field(default: Any) -> dataclasses.Field[Any]:
    made: dataclasses.Field[Any] = dataclasses.field(default=default)
    return made


def test_a_setting_becomes_a_field_of_its_kind_with_its_bounds_in_words() -> None:
    number = setting_field("window_days", field(1_500), declared(minimum=0, maximum=36_500), 7)
    assert isinstance(number, forms.IntegerField)
    assert (number.label, number.initial) == ("Window days", 7)
    assert number.help_text == "How many. 0 to 36,500 days; default 1,500."
    assert (number.min_value, number.max_value, type(number.widget)) == (0, 36_500, forms.NumberInput)

    slider = setting_field("pass_", field(3), declared(minimum=1, maximum=9, slider=True, label="Least"), 3)
    assert (slider.label, type(slider.widget), slider.widget.input_type) == ("Least", SliderInput, "range")
    assert setting_field("pass_", field(3), declared(minimum=1, maximum=9), 3).label == "Pass"

    share = setting_field("threshold", field(0.65), declared(minimum=0.1, maximum=1, unit="of the words"), 0.7)
    assert (type(share), share.initial) == (forms.FloatField, 0.7)
    assert share.help_text == "How many. 0.1 to 1 of the words; default 0.65."
    assert share.widget.attrs["step"] == "any"
    assert (share.min_value, share.max_value) == (0.1, 1)

    switch = setting_field("fast", field(True), declared(), False)
    assert (type(switch), switch.required, switch.help_text) == (forms.BooleanField, False, "How many.")
    assert (switch.label, switch.initial) == ("Fast", False)

    choice = setting_field("order", field("a"), declared(choices=("a", "b")), "b")
    assert (type(choice), choice.choices) == (forms.ChoiceField, [("a", "a"), ("b", "b")])
    assert (choice.label, choice.initial, choice.help_text) == ("Order", "b", "How many.")


def browser_takes(shown: forms.BoundField, value: float) -> bool:
    """Return whether a browser accepts a number in this field, by the rules of HTML for min, max and step."""
    drawn = html.fragment_fromstring(str(shown))
    least, most, step = (drawn.get(name) for name in ("min", "max", "step"))
    if not Decimal(least or "-inf") <= Decimal(str(value)) <= Decimal(most or "inf"):
        return False
    return step == "any" or (Decimal(str(value)) - Decimal(least or 0)) % Decimal(step or 1) == 0


@pytest.mark.django_db
def test_every_number_that_a_setting_may_have_is_accepted_by_the_browser_in_every_form() -> None:
    profile = ProfileForm()
    every = profile.configs()
    rule = RuleForm(configs={name: dataclasses.replace(config, enabled=True) for name, config in every.items()})
    drawn = [(profile, f"{name}__", detection_pass.config_class) for name, detection_pass in PASSES.items()]
    drawn += [(rule, f"{name}__", detection_pass.config_class) for name, detection_pass in PASSES.items()]
    drawn += [(ReportForm(query(), report=report), "", report.options_class) for report in REPORTS.values()]
    refused = [
        (type(form).__name__, name, number)
        for form, prefix, config in drawn
        for setting, (form_field, declared) in settings_of(config).items()
        if declared.minimum is not None and (name := prefix + option_name(setting)) in form.fields
        for number in (form_field.default, declared.minimum, declared.maximum)
        if not browser_takes(form[name], number)
    ]
    assert refused == []
    assert browser_takes(profile["minhash__recall"], 0.999_5)
    assert not browser_takes(profile["minhash__slots"], 256.5)


# ---- which articles ----


@pytest.mark.django_db
def test_a_scope_explains_its_days_and_newspapers() -> None:
    classes = [shown.field.widget.attrs["class"] for shown in ScopeForm()]
    assert classes == ["form-control", "form-control", "form-select"]
    assert ScopeForm().fields["newspapers"].widget.attrs["size"] == 8
    assert ScopeForm(query()).is_valid()
    assert ScopeForm(query(since="2026-03-02", until="2026-03-02")).is_valid()
    assert ScopeForm(query(since="2026-03-02")).is_valid()
    assert said(ScopeForm(query(since="2026-03-02", until="2026-03-01"))) == {
        "until": ["2026-03-01 is before 2026-03-02; it must be 2026-03-02 or later."]
    }


@pytest.mark.django_db
def test_a_run_chooses_a_profile_that_can_be_used() -> None:
    default = Profile.objects.get(is_default=True)
    form = RunForm()
    assert list(form.fields) == ["profile", "new", "since", "until", "newspapers"]
    assert form.fields["profile"].initial == default
    assert form.fields["profile"].empty_label is None
    answer = RunForm(query(profile=str(default.pk)))
    assert said(answer) == {}
    assert (answer.cleaned_data["profile"], answer.cleaned_data["new"]) == (default, False)
    names = PASSES
    for settings, fault, remedy in (
        ({"trigram": {"threshold": 7}}, "cannot be used: trigram: ", ". Fix it on the page Profiles."),
        ({name: {"enabled": False} for name in names}, "has no pass enabled; ", "; enable one on the page Profiles."),
    ):
        profile = Profile.objects.create(name=f"Odd {len(fault)}", settings=settings)
        [message] = said(RunForm(query(profile=str(profile.pk))))["profile"]
        assert message.startswith(f"{profile} {fault}")
        assert message.endswith(remedy)


@pytest.mark.django_db
def test_a_report_counts_a_scope_with_options_of_its_own(store: StoreArticle) -> None:
    papers = [store(newspaper=name).newspaper for name in ("Harbour Post", "Inland Courier")]
    report = REPORTS["network"]
    form = ReportForm(query(), report=report)
    assert said(form) == {}
    assert form.scope == Scope(None, None, None)
    assert form.options == report.options_class()
    assert form.fields["newspapers"].widget.attrs["size"] == 4
    assert form.has_slider
    sliders = [name for name, form_field in form.fields.items() if form_field.widget.attrs["class"] == "form-range"]
    assert (
        sliders
        == [name for name, form_field in form.fields.items() if isinstance(form_field.widget, SliderInput)]
        != []
    )
    assert form.data[sliders[0]] == str(form.fields[sliders[0]].initial)

    asked = query(newspapers=[str(paper.pk) for paper in reversed(papers)], since="2026-03-01", until="2026-03-09")
    form = ReportForm(asked, report=report)
    assert said(form) == {}
    first, last = (datetime.date(2026, 3, day) for day in (1, 9))
    assert form.scope == Scope(first, last, tuple(sorted(paper.pk for paper in papers)))
    assert dict(asked.lists()).keys() == {"newspapers", "since", "until"}  # what was sent is left as it was

    thresholds = ReportForm(query(subset_check="on"), report=REPORTS["thresholds"])
    assert said(thresholds) == {}
    assert thresholds.options == dataclasses.replace(REPORTS["thresholds"].options_class(), subset_check=True)
    assert not thresholds.has_slider
    assert all(not form_field.required for form_field in thresholds.fields.values())


# ---- other pages ----


def test_a_check_asks_for_a_text_and_says_what_it_may_be() -> None:
    assert said(CheckForm(query(text=" "))) == {"text": ["Paste a text."]}
    assert said(CheckForm(query(text="… !"))) == {
        "text": ["This text has no letters and no digits, so nothing can be compared."]
    }
    form = CheckForm(query(text="Ferry", day="2026-03-02"))
    assert said(form) == {}
    assert form.cleaned_data == {"text": "Ferry", "headline": "", "day": datetime.date(2026, 3, 2)}


@pytest.mark.django_db
def test_only_newspapers_in_use_are_merged() -> None:
    stays, goes = (Newspaper.objects.create(name=name, host=f"{name}.example") for name in ("a", "b"))
    gone = Newspaper.objects.create(name="c", host="c.example", merged_into=stays)
    assert MergeForm(query(merged=str(goes.pk), into=str(stays.pk))).is_valid()
    assert set(MergeForm(query(merged=str(gone.pk), into=str(gone.pk))).errors) == {"merged", "into"}


@pytest.mark.django_db
def test_a_token_has_a_name_scopes_of_its_owner_and_an_end() -> None:
    vera, mara = make_user("vera", "viewer"), make_user("mara", "editor")
    form = TokenForm(None, user=vera)
    assert form.fields["name"].widget.attrs["autocomplete"] == "off"
    assert form.fields["days"].initial == 365
    assert [value for value, _ in form.fields["scopes"].choices] == ["read", "webhooks", "feed"]
    assert "decide" in dict(TokenForm(None, user=mara).fields["scopes"].choices)
    answer = TokenForm(query(name="x" * 60, scopes=["read", "feed"], days="90"), user=vera)
    assert said(answer) == {}
    assert answer.cleaned_data == {"name": "x" * 60, "scopes": ["read", "feed"], "days": 90}
    answer = TokenForm(query(name="x", scopes="read", days=""), user=vera)
    assert said(answer) == {}
    assert answer.cleaned_data["days"] is None
    assert said(TokenForm(query(name="x" * 61), user=vera)) == {
        "name": ["Ensure this value has at most 60 characters (it has 61)."],
        "scopes": ["Choose at least one thing that the token may do."],
    }


def test_a_webhook_has_a_receiver_and_events() -> None:
    form = WebhookForm()
    assert form.fields["url"].widget.attrs["autocomplete"] == "off"
    assert form.fields["url"].widget.input_type == "url"
    first, *_ = form.fields["events"].choices
    assert form.fields["events"].initial == [first[0]]
    assert said(WebhookForm(query(url="https://receiver.example/"))) == {"events": ["Choose at least one event."]}
