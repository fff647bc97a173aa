"""The forms of profiles and of their rules, with a field for each setting of the passes; and of extraction rules."""

import dataclasses
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from django import forms
from django.forms import BoundField

from articles.extraction.rules import FIELDS, ExtractionRule, rule_faults
from articles.forms import StyledForm, field_of, style
from articles.models import Collection
from articles.models import ExtractionRule as SavedRule
from articles.normalization.logins import without_login
from articles.storage.incoming import url_fault
from dedup.declarations import ConfigError, Setting, SettingEffect, make_config, settings_of
from dedup.detection.bounds import bound_named
from dedup.detection.passes import PASSES
from dedup.detection.runs.facts import bounds_in_words
from dedup.detection.runs.profiles import Configs
from dedup.detection.verdicts.same_as import RULES
from dedup.forms.base import setting_field
from dedup.models import Profile, ProfileRule
from dedup.rows.filtering import units

# The fields of a profile that are not settings of a pass: what comes first, and the rest.
BASIC = ("name", "is_default", "nightly_at")
ADVANCED = ("boilerplate", "same_as", "keep_rule", "asked_from")
# The settings of a pass that an editor knows: whether it runs, its window, how much it compares, and its threshold.
BASIC_SETTINGS = ("enabled", "day_window", "days_apart", "prefix", "threshold", "retired")


def copy_of(profile: Profile) -> Profile:
    """Return a new profile, not stored, with the settings of this one; it is not the default, nor runs at night."""
    return Profile(
        name=f"Copy of {profile.name}"[:100],
        settings=deepcopy(profile.settings),
        **{name: getattr(profile, name) for name in ADVANCED},
    )


class ProfileForm(StyledForm, forms.ModelForm[Profile]):
    """A form with a field for each declared setting of every pass."""

    GROUPS = {"basic": BASIC, "advanced": ADVANCED}

    class Meta:
        model = Profile
        fields = BASIC + ADVANCED
        widgets = {"nightly_at": forms.TimeInput(format="%H:%M", attrs={"type": "time"})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, detection_pass in PASSES.items():
            stored = (self.instance.settings or {}).get(name, {})
            for setting, (field, declared) in settings_of(detection_pass.config_class).items():
                made = setting_field(setting, field, declared, stored.get(setting, field.default))
                if setting == "enabled":
                    made.help_text = ""  # its label says it
                elif setting in BASIC_SETTINGS and declared.minimum is not None:
                    made.help_text = f"{declared.help} {_range(declared)}; usually {field.default:,.12g}."
                self.fields[f"{name}__{setting}"] = made
        self.fields["same_as"].choices = [(same_as.value, rule) for same_as, rule in RULES.items()]  # type: ignore[attr-defined]
        style(self.fields.values())

    def _get_validation_exclusions(self) -> set[str]:
        # Two default profiles are not an error here: save_profile unticks the old one.
        return {*super()._get_validation_exclusions(), "is_default"}  # type: ignore[misc]

    def clean(self) -> dict[str, Any]:
        """Collect the fields into the stored settings; every fault is at its field, all at once."""
        cleaned = super().clean() or {}
        self.instance.settings = {}
        for name, detection_pass in PASSES.items():
            values = _values_of(name, cleaned)
            try:
                make_config(detection_pass.config_class, values)
            except ConfigError as error:
                # Such as a number that must be a power of two. The label of the field says which one.
                self.add_error(f"{name}__{error.setting}", f"It {str(error).removeprefix(error.setting).strip()}.")
            declared = settings_of(detection_pass.config_class)
            if chosen := {key: value for key, value in values.items() if value != declared[key][0].default}:
                self.instance.settings[name] = chosen
        if not any(cleaned.get(f"{name}__enabled") for name in PASSES):
            self.add_error(None, "No pass is in use: runs would find nothing. Tick “Use this pass” for at least one.")
        if self.instance.pk and self.initial.get("is_default") and not cleaned.get("is_default"):
            self.add_error("is_default", "One profile must be the default. To change it, tick this box on another.")
        return cleaned

    def boxes(self, configs: Configs) -> Iterator[dict[str, Any]]:
        """Yield the name, the words and the fields of every pass, in the order of a run; `configs` as below."""
        for name, detection_pass in PASSES.items():
            settings = list(settings_of(detection_pass.config_class))
            first = [setting for setting in BASIC_SETTINGS if setting in settings and setting != "retired"]
            rest = [setting for setting in settings if setting not in BASIC_SETTINGS]
            yield {
                "name": name,
                "label": detection_pass.label,
                "proposes": detection_pass.proposes,
                "bounds": bounds_in_words(name, dataclasses.asdict(configs[name])),
                "first": [self[f"{name}__{setting}"] for setting in first],
                "retired": self[f"{name}__retired"],
                "all": [self[f"{name}__{setting}"] for setting in settings],
                "advanced": [self[f"{name}__{setting}"] for setting in rest],
            }

    def configs(self) -> Configs:
        """Return the configs that the form shows. Where a value cannot be used, it is what was stored, or the default.

        Of a posted form, call it after is_valid.
        """
        shown = {name: field.initial for name, field in self.fields.items()}
        if self.is_bound:
            shown |= {name: value for name, value in self.cleaned_data.items() if value is not None}
        configs: Configs = {}
        for name, detection_pass in PASSES.items():
            try:
                configs[name] = make_config(detection_pass.config_class, _values_of(name, shown))
            except ConfigError:
                configs[name] = detection_pass.config_class()
        return configs


def _range(declared: Setting) -> str:
    return f"From {declared.minimum:,.12g} to {declared.maximum:,.12g}"


def _values_of(name: str, cleaned: Mapping[str, Any]) -> dict[str, Any]:
    """Return the usable values of a pass by setting."""
    names = settings_of(PASSES[name].config_class)
    values = {setting: cleaned.get(f"{name}__{setting}") for setting in names}
    return {setting: value for setting, value in values.items() if value is not None}


PLAIN = ("newspaper", "other", "left_out", "retired")  # the fields of a rule that are not of a pass


class RuleForm(StyledForm, forms.ModelForm[ProfileRule]):
    """A rule of a profile: for whom, and the days and lowest scores that are not those of the profile.

    A newspaper is chosen by its number, a collection by its number below zero.
    """

    GROUPS = {"plain": PLAIN}

    newspaper = forms.ChoiceField(
        choices=lambda: [("", "choose one"), *units()],
        label="Newspaper or collection",
        help_text="For a collection, each run takes the newspapers that are in it when the run starts.",
    )
    other = forms.ChoiceField(
        choices=lambda: [("", "any newspaper"), *units()],
        required=False,
        label="With",
        help_text="If empty: with any newspaper. Choose the same one again for pairs within it.",
    )

    class Meta:
        model = ProfileRule
        fields = ("left_out", "retired")
        labels = {
            "left_out": "Leave these pairs out of detection",
            "retired": "Hide pairs found earlier that this rule does not allow",
        }
        help_texts = {
            "left_out": "No pass proposes them. The numbers below do not matter then.",
            "retired": "From the next run on. Decisions stay.",
        }

    def __init__(self, *args: Any, configs: Configs, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        numbers = [-side.pk if isinstance(side, Collection) else side.pk for side in self.instance.sides]
        self.initial.update(zip(PLAIN, numbers, strict=False))
        self.passes = [name for name, config in configs.items() if config.enabled or name in self.instance.settings]
        for name in self.passes:
            for setting in _bounds(name):
                field, declared = settings_of(PASSES[name].config_class)[setting]
                made = setting_field(setting, field, declared, self.instance.settings.get(name, {}).get(setting))
                made.required = False
                made.help_text = f"{_range(declared)}."
                made.widget.attrs["placeholder"] = f"{getattr(configs[name], setting):,.12g}"
                self.fields[f"{name}__{setting}"] = made
        style(self.fields.values())

    def clean(self) -> dict[str, Any]:
        """Collect the fields into the stored settings, and put the sides in order."""
        cleaned = super().clean() or {}
        chosen = {name: {key: cleaned.get(f"{name}__{key}") for key in _bounds(name)} for name in self.passes}
        given = {name: {key: value for key, value in own.items() if value is not None} for name, own in chosen.items()}
        self.instance.settings = {name: values for name, values in given.items() if values}
        sides = [int(cleaned[name]) for name in PLAIN[:2] if cleaned.get(name)]
        rule = self.instance
        rule.newspaper_id, rule.other_id = [*sorted(side for side in sides if side > 0), None, None][:2]
        rule.collection_id, rule.other_collection_id = [*sorted(-side for side in sides if side < 0), None, None][:2]
        others = rule.profile.rules.exclude(pk=rule.pk)
        is_empty = len(sides) == 1 and not (rule.settings or cleaned["left_out"] or self.errors)
        # One newspaper "as in the profile" is something where a rule for a collection may say otherwise.
        if is_empty and (rule.collection_id or not others.exclude(collection=None).exists()):
            self.add_error(None, "This rule would change nothing. Enter a number, or leave these pairs out.")
        if sides and others.filter(**{name: getattr(rule, name) for name in rule.SIDES}).exists():
            self.add_error("newspaper", "The profile already has a rule for this choice; change that one.")
        return cleaned

    def boxes(self) -> list[tuple[str, list[BoundField]]]:
        """Return the fields of every pass that can be bounded, with its label."""
        boxes = ((PASSES[name].label, [self[f"{name}__{key}"] for key in _bounds(name)]) for name in self.passes)
        return [(label, fields) for label, fields in boxes if fields]


def _bounds(name: str) -> list[str]:
    """Return the settings of a pass that a rule can set: the most days apart and the lowest score."""
    names = (bound_named(name, effect) for effect in (SettingEffect.WITHIN_DAYS, SettingEffect.FROM_SCORE))
    return [setting for setting in names if setting]


class ExtractionRuleForm(StyledForm, forms.ModelForm[SavedRule]):
    """A rule to try or to save, why, and a page to try it on that is not stored."""

    class Meta:
        model = SavedRule
        formfield_callback = field_of
        fields = (*FIELDS, "note")

    url = forms.CharField(
        required=False,
        label="Also try it on this page",
        help_text="The URL of an article that is not stored, such as one that was refused. It is fetched once.",
    )
    restores = forms.ModelChoiceField(SavedRule.objects.none(), required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, saved: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["restores"].queryset = saved  # type: ignore[attr-defined]

    def clean_url(self) -> str:
        """Return the URL if it can be an article's."""
        url: str = without_login(self.cleaned_data["url"].replace("\0", "").strip())
        if url and (fault := url_fault(url)):
            raise forms.ValidationError(f"This is not the URL of an article: {fault}.")
        return url

    def clean(self) -> dict[str, Any]:
        """Check the selectors."""
        for field, faults in rule_faults(self.rule).items():
            for fault in faults:
                self.add_error(field, fault)
        return self.cleaned_data

    @property
    def rule(self) -> ExtractionRule:
        """The rule of a form that was cleaned."""
        return ExtractionRule.of({field: self.cleaned_data.get(field) for field in FIELDS})
