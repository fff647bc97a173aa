"""The admin pages of the detection: profiles can be edited, everything else is read-only."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from articles.admin import NewspaperAdmin
from articles.models import Newspaper
from articles.read_only_admin import NewspaperFilter, ReadOnlyAdmin
from dedup.declarations import settings_of
from dedup.forms import setting_field
from dedup.models import Cluster, Decision, DetectionRun, Evidence, FittedModel, Pair, Profile, Series
from dedup.passes import PASSES
from dedup.runs.profiles import ProfileError, configs_of

# The fields of a profile that are not settings of a pass.
_PLAIN = ("name", "is_default", "versions_join", "boilerplate", "nightly_at")


class ProfileForm(forms.ModelForm[Profile]):
    """A form with a field for each declared setting of every pass."""

    class Meta:
        model = Profile
        fields = _PLAIN

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = self.instance.settings or {}
        for name, each in PASSES.items():
            for setting, (field, declared) in settings_of(each.config_class).items():
                value = stored.get(name, {}).get(setting, field.default)
                self.fields[f"{name}__{setting}"] = setting_field(setting, field, declared, value)

    def _get_validation_exclusions(self) -> set[str]:
        # Two default profiles are not an error here: save_model below unticks the old one.
        return {*super()._get_validation_exclusions(), "is_default"}  # type: ignore[misc]

    def clean(self) -> dict[str, Any]:
        """Collect the fields into the stored settings, and let the passes validate them."""
        cleaned = super().clean() or {}
        chosen: dict[str, dict[str, Any]] = {name: {} for name in PASSES}
        for name, each in PASSES.items():
            for setting, (field, _) in settings_of(each.config_class).items():
                value = cleaned.get(f"{name}__{setting}")
                if value is not None and value != field.default:
                    chosen[name][setting] = value
        self.instance.settings = {name: values for name, values in chosen.items() if values}
        if not self.errors:
            try:
                configs_of(self.instance.settings)
            except ProfileError as error:
                self.add_error(None, str(error))
        if self.instance.pk and self.initial.get("is_default") and not cleaned.get("is_default"):
            self.add_error("is_default", "One profile must be the default. To change it, tick this box on another.")
        return cleaned


@admin.register(Profile)
class ProfileAdmin(admin.ModelAdmin[Profile]):
    """Profiles: passes, windows and thresholds, with their ranges."""

    form = ProfileForm
    list_display = ("name", "is_default", "boilerplate", "nightly_at", "updated_at")

    def get_fieldsets(self, request: HttpRequest, obj: Profile | None = None) -> Any:
        """Show a fieldset for each pass."""
        boxes: list[Any] = [(None, {"fields": _PLAIN})]
        for name, each in PASSES.items():
            fields = [f"{name}__{setting}" for setting in settings_of(each.config_class)]
            boxes.append((f"{each.label} ({name})", {"fields": fields, "description": type(each).__doc__}))
        return boxes

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the generated form; its extra fields are not fields of the model."""
        kwargs["fields"] = _PLAIN
        return super().get_form(request, obj, change=change, **kwargs)

    def save_model(self, request: HttpRequest, obj: Profile, form: Any, change: Any) -> None:
        """Save the profile; a new default replaces the old one."""
        with transaction.atomic():
            if obj.is_default:
                Profile.objects.exclude(pk=obj.pk).filter(is_default=True).update(is_default=False)
            super().save_model(request, obj, form, change)
            if "nightly_at" in form.changed_data:
                self._schedule(obj)

    def _schedule(self, profile: Profile) -> None:
        from dedup.runs.tasks import schedule_nightly  # noqa: PLC0415 - the tasks import the pipeline and its kernels

        schedule_nightly(profile)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Do not allow deleting the default profile: runs that name no profile use it."""
        return super().has_delete_permission(request, obj) and not (obj and obj.is_default)


# The import above registered it without the action: only this app knows the pairs of newspapers.
admin.site.unregister(Newspaper)


@admin.register(Newspaper)
class MergingNewspaperAdmin(NewspaperAdmin):
    """The admin of newspapers, which can also be merged."""

    actions = ["merge"]

    def has_merge_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("articles.add_newspapermerge")

    @admin.action(description="Merge one newspaper into another, or undo it…", permissions=["merge"])
    def merge(self, request: HttpRequest, newspapers: QuerySet[Newspaper]) -> HttpResponse | None:
        """Show what merging the selected newspapers would change; of two, the one with fewer articles moves."""
        if len(newspapers) > 2:
            self.message_user(request, "Select one or two newspapers to merge.", messages.ERROR)
            return None
        counted = newspapers.annotate(articles_stored=Count("articles")).order_by("articles_stored", "pk")
        chosen = dict(zip(("merged", "into"), (each.pk for each in counted), strict=False))
        return redirect(f"{reverse('newspaper_merges')}?{urlencode(chosen)}")


@admin.register(DetectionRun)
class DetectionRunAdmin(ReadOnlyAdmin):
    list_display = ("id", "state", "profile_name", "started_at", "finished_at", "requested_by")
    list_filter = ("state",)


@admin.register(Pair)
class PairAdmin(ReadOnlyAdmin):
    list_display = ("id", "state", "verdict", "probability", "best_score", "days_apart", "same_newspaper")
    list_filter = ("state", "verdict", "same_newspaper")
    list_select_related = True
    show_full_result_count = False


@admin.register(Evidence)
class EvidenceAdmin(ReadOnlyAdmin):
    list_display = ("id", "pair", "pass_name", "score", "stale", "run")
    list_filter = ("pass_name", "stale")
    list_select_related = ("pair", "run")
    show_full_result_count = False


@admin.register(Cluster)
class ClusterAdmin(ReadOnlyAdmin):
    list_display = ("id", "state", "size", "lowest_score", "first_day", "last_day")
    list_filter = ("state",)


@admin.register(Series)
class SeriesAdmin(ReadOnlyAdmin):
    list_display = ("headline", "newspaper", "articles", "last_day", "ruled_by", "ruled_at")
    list_filter = (("ruled_at", admin.EmptyFieldListFilter), ("newspaper", NewspaperFilter))
    list_select_related = ("newspaper", "ruled_by")
    search_fields = ("headline",)


@admin.register(FittedModel)
class FittedModelAdmin(ReadOnlyAdmin):
    list_display = ("id", "in_use", "decisions", "fitted_at")


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "decided_by", "decided_at", "note")
    list_filter = ("kind", "decided_by")
