"""The admin pages of the detection: profiles can be edited, everything else is read-only."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode

from articles.admin import NewspaperAdmin
from articles.models import Newspaper
from articles.read_only_admin import NewspaperFilter, ReadOnlyAdmin
from dedup.declarations import settings_of
from dedup.detection.passes import PASSES
from dedup.forms.profiles import ADVANCED, BASIC, BASIC_SETTINGS, ProfileForm
from dedup.models import Cluster, Decision, DetectionRun, Evidence, FittedModel, Pair, Profile, Series
from dedup.review.rules.profiles import save_profile

_PLAIN = BASIC + ADVANCED


@admin.register(Profile)
class ProfileAdmin(admin.ModelAdmin[Profile]):
    """Profiles: passes, windows and thresholds, with their ranges."""

    form = ProfileForm
    list_display = ("name", "is_default", "boilerplate", "nightly_at", "updated_at")

    def get_fieldsets(self, request: HttpRequest, obj: Profile | None = None) -> Any:
        """Show a fieldset for each pass, and one for what an editor seldom needs."""
        address = reverse("profile", args=[obj.pk]) if obj else reverse("profile_new")
        hint = format_html(
            'The <a href="{}">page Profiles</a> also shows what the settings would do, and has rules for newspapers. A '
            "new profile starts as a copy of the default one.",
            address,
        )
        boxes: list[Any] = [(None, {"fields": _PLAIN, "description": hint})]
        for name, detection_pass in PASSES.items():
            settings = list(settings_of(detection_pass.config_class))
            first = [f"{name}__{setting}" for setting in BASIC_SETTINGS if setting in settings]
            rest = [f"{name}__{setting}" for setting in settings if setting not in BASIC_SETTINGS]
            boxes.append(
                (f"{detection_pass.label} ({name})", {"fields": first, "description": type(detection_pass).__doc__})
            )
            if rest:
                boxes.append((f"{detection_pass.label}: advanced", {"fields": rest, "classes": ["collapse"]}))
        return boxes

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the generated form; its extra fields are not fields of the model."""
        kwargs["fields"] = _PLAIN
        return super().get_form(request, obj, change=change, **kwargs)

    def save_model(self, request: HttpRequest, obj: Profile, form: Any, change: Any) -> None:
        """Save the profile; a new default replaces the old one."""
        default = None if change else Profile.objects.filter(is_default=True).first()
        save_profile(obj, rules_of=default, reschedule="nightly_at" in form.changed_data, user=request.user)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Do not allow deleting the default profile: runs that name no profile use it."""
        return super().has_delete_permission(request, obj) and not (obj and obj.is_default)


# The import above registered it without the action: only this app knows the pairs of newspapers.
admin.site.unregister(Newspaper)


@admin.register(Newspaper)
class MergingNewspaperAdmin(NewspaperAdmin):
    """The admin of newspapers, which can also be merged."""

    actions = [*NewspaperAdmin.actions, "merge"]

    def has_merge_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("articles.add_newspapermerge")

    @admin.action(description="Merge one newspaper into another, or undo it…", permissions=["merge"])
    def merge(self, request: HttpRequest, newspapers: QuerySet[Newspaper]) -> HttpResponse | None:
        """Show what merging the selected newspapers would change; of two, the one with fewer articles moves."""
        if len(newspapers) > 2:
            self.message_user(request, "Select one or two newspapers to merge.", messages.ERROR)
            return None
        counted = newspapers.annotate(articles_stored=Count("articles")).order_by("articles_stored", "pk")
        chosen = dict(zip(("merged", "into"), (newspaper.pk for newspaper in counted), strict=False))
        return redirect(f"{reverse('newspaper_merges')}?{urlencode(chosen)}")


# What is only looked at, with the columns of its list and how that is made.
_LISTS: dict[type[Model], dict[str, Any]] = {
    DetectionRun: {
        "list_display": ("id", "state", "profile_name", "started_at", "finished_at", "requested_by"),
        "list_filter": ("state",),
    },
    Pair: {
        "list_display": ("id", "state", "verdict", "probability", "best_score", "days_apart", "same_newspaper"),
        "list_filter": ("state", "verdict", "same_newspaper"),
        "list_select_related": True,
        "show_full_result_count": False,
    },
    Evidence: {
        "list_display": ("id", "pair", "pass_name", "score", "stale", "run"),
        "list_filter": ("pass_name", "stale"),
        "list_select_related": ("pair", "run"),
        "show_full_result_count": False,
    },
    Cluster: {
        "list_display": ("id", "state", "size", "lowest_score", "first_day", "last_day"),
        "list_filter": ("state",),
    },
    Series: {
        "fields": (
            *("newspaper", "form", "headline", "articles", "days", "first_day", "last_day"),
            *("ruled_by", "ruled_at"),
        ),
        "list_display": ("headline", "newspaper", "articles", "last_day", "ruled_by", "ruled_at"),
        "list_filter": (("ruled_at", admin.EmptyFieldListFilter), ("newspaper", NewspaperFilter)),
        "list_select_related": ("newspaper", "ruled_by"),
        "search_fields": ("headline",),
    },
    FittedModel: {"list_display": ("id", "in_use", "decisions", "fitted_at")},
    Decision: {
        "list_display": ("id", "kind", "decided_by", "decided_at", "note"),
        "list_filter": ("kind", "decided_by"),
    },
}
for model, options in _LISTS.items():
    admin.site.register(model, ReadOnlyAdmin, **options)
