"""The forms of the pages."""

import dataclasses
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.http import QueryDict

from articles.forms import StyledForm, style
from articles.models import Collection, Newspaper
from articles.normalization.text import normalize_text
from articles.numbers import MAX_NUMBER, read_number
from articles.storage.collections import known_kinds
from articles.storage.search_index import checked
from dedup.answers import CHOICES, Answer
from dedup.declarations import Setting, Settings, make_config, option_name, settings_of
from dedup.detection.runs.profiles import ProfileError, configs_of, enabled
from dedup.detection.runs.scope import Scope
from dedup.integrations.tokens import NAME_CHARACTERS, scopes_of
from dedup.integrations.webhooks import MAX_URL_CHARACTERS
from dedup.models import Profile, Webhook
from dedup.reports.base import Report
from dedup.review.answers.batches import ANSWERS, SAMPLES
from dedup.review.answers.decisions import MAX_NOTE_CHARACTERS
from dedup.review.queries.check import MAX_CHARACTERS, MAX_HEADLINE_CHARACTERS
from dedup.rows.filtering import Choice, DayInput, SearchField, UnitsField

_OUTDATED = "This page is out of date. Reload it and decide again."


class NoteForm(forms.Form):
    """The note that an editor may add to a decision."""

    note = forms.CharField(required=False, max_length=MAX_NOTE_CHARACTERS)


class PairDecisionForm(NoteForm):
    """A decision on a pair. `seen` is the number of the latest decision that the page showed, 0 for none."""

    seen = forms.IntegerField(min_value=0, max_value=MAX_NUMBER, error_messages={"required": _OUTDATED})
    kind = forms.TypedChoiceField(choices=[(answer.value, answer.label) for answer in Answer], coerce=Answer)


class SettleForm(NoteForm):
    """The answer that settles a disagreement."""

    kind = forms.ChoiceField(choices=CHOICES)


class CollisionForm(SettleForm):
    """The answer of an editor to the decision that another one made meanwhile."""

    decision = forms.IntegerField(min_value=1, max_value=MAX_NUMBER)


class DeclarationForm(PairDecisionForm):
    """A decision on two articles that no pass has proposed as a pair."""

    left = forms.IntegerField(min_value=1, max_value=MAX_NUMBER)
    right = forms.IntegerField(min_value=1, max_value=MAX_NUMBER)


class BatchForm(forms.Form):
    """The answer for all questions of a list, and how many of them are answered one by one first."""

    kind = forms.ChoiceField(choices=[(answer.value, answer.label) for answer in ANSWERS])
    sample = forms.TypedChoiceField(choices=[(size, str(size)) for size in SAMPLES], coerce=int)


class ModelForm(forms.Form):
    """A model to put into use: its number, or the name of the one that ships."""

    model = forms.CharField(max_length=20)


class _ListedNumbers(forms.CharField):
    """Numbers from all fields of one name, each with one or more of them: "3,17". Returns them without repetition."""

    class _All(forms.HiddenInput):
        def value_from_datadict(self, data: Any, _files: Any, name: str) -> str:
            return ",".join(data.getlist(name))

    widget = _All

    def clean(self, value: Any) -> Any:
        named = super().clean(value).split(",") if value else []
        for number in named:
            if read_number(number, least=1) is None:
                raise forms.ValidationError(
                    f"“{number[:40]}” is not a valid article number. Reload this page and try again."
                )
        return list(dict.fromkeys(map(int, named)))


class ClusterForm(NoteForm):
    """A decision on a whole cluster. `seen` is the number and the fingerprint of the articles that the page showed."""

    seen = forms.CharField(max_length=100, error_messages={"required": _OUTDATED})


class SplitForm(ClusterForm):
    """The articles of a cluster to split off."""

    tick = _ListedNumbers(required=False)


class ClusterMergeForm(ClusterForm):
    """The cluster to merge with."""

    other = forms.IntegerField(
        min_value=1, max_value=MAX_NUMBER, error_messages={"required": "Name the cluster to merge with by its number."}
    )


class GroupConfirmForm(NoteForm):
    """A decision on a dense group. `seen` is the fingerprint of the articles that the page showed."""

    seen = forms.CharField(max_length=64, error_messages={"required": _OUTDATED})


class MemberForm(NoteForm):
    """One article of a cluster: the one to take out, or to keep."""

    article = forms.IntegerField(min_value=1, max_value=MAX_NUMBER)


class SliderInput(forms.NumberInput):
    """A number between two bounds, chosen by a slider. The page shows its value next to it."""

    input_type = "range"

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"class": "form-range"} | (attrs or {}))


class KindField(forms.ChoiceField):
    """A choice of the kind of collections of which each counts as one newspaper; empty: none does."""

    def __init__(self, **given: Any) -> None:
        super().__init__(choices=self._kinds, required=False, widget=Choice, **given)

    def _kinds(self) -> list[tuple[str, str]]:
        return [("", "each newspaper by itself"), *((kind, f"those by {kind}") for kind in known_kinds())]


def setting_field(setting: str, field: dataclasses.Field[Any], declared: Setting, value: Any) -> forms.Field:
    """Return the form field of a declared setting."""
    label = declared.label or option_name(setting).replace("_", " ").capitalize()
    common: dict[str, Any] = {"label": label, "initial": value}
    if isinstance(field.default, bool):
        return forms.BooleanField(required=False, help_text=declared.help, **common)
    if declared.offers:
        return KindField(help_text=declared.help, **common)
    if declared.choices:
        choices = [(choice, choice) for choice in declared.choices]
        return forms.ChoiceField(choices=choices, help_text=declared.help, **common)
    bounds = f"{declared.minimum:,.12g} to {declared.maximum:,.12g} {declared.unit}; default {field.default:,.12g}."
    common |= {"help_text": f"{declared.help} {bounds}", "min_value": declared.minimum, "max_value": declared.maximum}
    if isinstance(field.default, int):
        return forms.IntegerField(widget=SliderInput if declared.slider else forms.NumberInput, **common)
    # Django writes step="any": whatever the declaration allows, a browser accepts.
    return forms.FloatField(**common)


class CheckForm(StyledForm):
    """A text to check, and what is known of it."""

    text = forms.CharField(
        max_length=MAX_CHARACTERS,
        label="Text",
        widget=forms.Textarea(attrs={"rows": 8, "dir": "auto"}),
        error_messages={
            "required": "Paste a text.",
            "max_length": "This text has %(show_value)d characters; at most %(limit_value)d are checked. "
            "Check a part of it.",
        },
    )
    headline = forms.CharField(
        required=False,
        max_length=MAX_HEADLINE_CHARACTERS,
        label="Headline (optional)",
        widget=forms.TextInput(attrs={"dir": "auto"}),
    )
    day = forms.DateField(
        required=False,
        label="Day of publication (optional)",
        widget=DayInput(),
        help_text="If you name it, the page says which passes compare fewer days.",
    )

    def clean_text(self) -> str:
        """Return the text if there is anything to compare."""
        text: str = self.cleaned_data["text"]
        if not normalize_text(text):
            raise forms.ValidationError("This text has no letters and no digits, so nothing can be compared.")
        return text


class ScopeForm(StyledForm):
    """Which articles: first and last day of publication, both included, and newspapers."""

    since = forms.DateField(
        required=False, label="Published from", widget=DayInput(), help_text="If empty: from the first day."
    )
    until = forms.DateField(
        required=False,
        label="Published to",
        widget=DayInput(),
        help_text="Both days are included. If empty: to the last day.",
    )
    newspapers = UnitsField(
        required=False, widget=forms.SelectMultiple(attrs={"size": 8}), help_text="If none is chosen: all newspapers."
    )

    def clean(self) -> None:
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if since and until and since > until:
            self.add_error("until", f"{until} is before {since}; it must be {since} or later.")

    @property
    def scope(self) -> Scope:
        """The articles that were chosen; the form must be valid."""
        newspapers = self.cleaned_data["newspapers"]
        ids = tuple(sorted(newspaper.pk for newspaper in newspapers)) or None
        words = self.cleaned_data.get("search", "")
        return Scope(self.cleaned_data["since"], self.cleaned_data["until"], ids, words=words)


class SearchedScopeForm(ScopeForm):
    """Which articles, also by their words."""

    search = SearchField(
        read=checked,
        required=False,
        help_text="Only articles that this search of the list of articles finds. If empty: all.",
    )


class MergeForm(StyledForm):
    """The newspaper to merge, and the one that stays."""

    merged = forms.ModelChoiceField(
        Newspaper.objects.in_use(),
        empty_label="choose a newspaper",
        label="Merge this newspaper",
        help_text="Its articles move. It is no longer listed or crawled, and its name and host lead to the other one.",
    )
    into = forms.ModelChoiceField(
        Newspaper.objects.in_use(),
        empty_label="choose a newspaper",
        label="Into this one",
        help_text="It stays, with its own name and settings.",
    )


class CollectionForm(forms.ModelForm[Collection]):
    """The name of a collection and, of a new one, its kind."""

    class Meta:
        model = Collection
        fields = ("kind", "name")
        widgets = {"kind": forms.TextInput(attrs={"list": "kinds", "autocomplete": "off"})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["kind"].disabled = self.instance.pk is not None
        style(self.fields.values())

    def clean_kind(self) -> str:
        """Return the kind as all write it."""
        return " ".join(self.cleaned_data["kind"].lower().split())


class MembersForm(StyledForm):
    """Newspapers to put into a collection, or to take out."""

    newspapers = forms.ModelMultipleChoiceField(Newspaper.objects.in_use())


class TokenForm(StyledForm):
    """A new token: what to call it, what it may do, and how long it works."""

    name = forms.CharField(
        max_length=NAME_CHARACTERS,
        help_text="What uses it, for example “nightly export”.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    days = forms.TypedChoiceField(
        choices=[(30, "for 30 days"), (90, "for 90 days"), (365, "for a year"), ("", "until it is revoked")],
        initial=365,
        required=False,
        coerce=int,
        empty_value=None,
        label="It works",
    )

    def __init__(self, data: QueryDict | None, *, user: User) -> None:
        super().__init__(data)
        self.fields["scopes"] = forms.MultipleChoiceField(
            choices=[(scope.value, scope.label) for scope in scopes_of(user)],
            label="It may",
            widget=forms.CheckboxSelectMultiple,
            error_messages={"required": "Choose at least one thing that the token may do."},
        )
        style([self.fields["scopes"]])


class WebhookForm(StyledForm):
    """A new webhook: where to send what."""

    url = forms.CharField(
        label="URL of the receiver",
        max_length=MAX_URL_CHARACTERS,
        widget=forms.URLInput(attrs={"autocomplete": "off"}),
    )
    events = forms.MultipleChoiceField(
        choices=Webhook.Event.choices,
        initial=[Webhook.Event.NEW.value],
        label="Send when",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one event."},
    )


class RunForm(ScopeForm):
    """Which articles a run compares, and with which profile."""

    field_order = ("profile", "new")
    profile = forms.ModelChoiceField(
        Profile.objects.all(), empty_label=None, help_text="Sets the passes, their windows and their thresholds."
    )
    new = forms.BooleanField(
        required=False,
        label="New articles only",
        help_text="Compare only articles that are new or have changed since the last full run.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["profile"].initial = Profile.objects.filter(is_default=True).first()
        self.fields["since"].help_text = "Applies to the later article of each pair. If empty: from the first day."

    def clean_profile(self) -> Profile:
        """Return the profile if a run can use it."""
        profile: Profile = self.cleaned_data["profile"]
        try:
            configs = configs_of(profile.settings)
        except ProfileError as error:
            raise forms.ValidationError(f"{profile} cannot be used: {error}. Fix it on the page Profiles.") from error
        if not enabled(configs):
            raise forms.ValidationError(f"{profile} has no pass enabled; enable one on the page Profiles.")
        return profile


class ReportForm(SearchedScopeForm):
    """Which articles a report counts, and its own options; an empty field means the declared default."""

    def __init__(self, data: QueryDict, *, report: Report) -> None:
        self.report = report
        data = data.copy()
        super().__init__(data)
        self.fields["newspapers"].widget.attrs["size"] = 4
        for setting, (field, declared) in settings_of(report.options_class).items():
            name = option_name(setting)
            self.fields[name] = setting_field(setting, field, declared, field.default)
            self.fields[name].required = False
            style([self.fields[name]])
            if not isinstance(field.default, bool):
                data.setdefault(name, str(field.default))

    @property
    def has_slider(self) -> bool:
        """Whether an option is chosen by a slider, which is for trying out: the page shows it at once."""
        return any(isinstance(field.widget, SliderInput) for field in self.fields.values())

    @property
    def options(self) -> Settings:
        """The report's options; the form must be valid."""
        values = {name: self.cleaned_data[option_name(name)] for name in settings_of(self.report.options_class)}
        given = {name: value for name, value in values.items() if value not in (None, "")}
        return make_config(self.report.options_class, given)
