"""The pages of profiles: their settings, what these would do, copies, and rules for newspapers."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from articles.numbers import read_number
from dedup.detection.runs.profiles import Configs, ProfileError, configs_of
from dedup.forms.profiles import ProfileForm, RuleForm, copy_of
from dedup.models import Profile, ProfileRule
from dedup.review.rules.profiles import effects, passes_in_use, rule_rows, save_profile, widenings
from dedup.views.requests import EditorRequest, decision_view


def profiles(request: HttpRequest) -> HttpResponse:
    """List the profiles, the default one first."""
    listed = Profile.objects.annotate(rule_count=Count("rules")).order_by("-is_default", "name")
    rows = [(profile, *passes_in_use(profile)) for profile in listed]
    return render(request, "profiles/profiles.html", {"rows": rows})


def profile_new(request: EditorRequest) -> HttpResponse:
    """Make a profile: a copy of the one that the address names, or of the default one."""
    wanted = read_number(request.GET.get("copy", ""))
    copied = None if wanted is None else Profile.objects.filter(pk=wanted).first()
    source = copied or Profile.objects.filter(is_default=True).first()
    form = ProfileForm(request.POST or None, instance=copy_of(source) if source else None)
    return _form_page(request, form, source=source)


def profile(request: EditorRequest, profile_id: int) -> HttpResponse:
    """Show and change a profile."""
    shown = get_object_or_404(Profile, pk=profile_id)
    return _form_page(request, ProfileForm(request.POST or None, instance=shown))


def _form_page(request: EditorRequest, form: ProfileForm, *, source: Profile | None = None) -> HttpResponse:
    """Save the form, or show it with what its settings would do."""
    is_valid = form.is_valid() if form.is_bound else True
    asked = "preview" in request.POST
    if form.is_bound and is_valid and not asked:
        save_profile(form.instance, rules_of=source, reschedule="nightly_at" in form.changed_data)
        messages.success(request, f"The profile {form.instance.name} is saved. Its next run uses these settings.")
        return redirect("profile", profile_id=form.instance.pk)
    configs = form.configs()
    found = effects(configs)
    stored = Profile.objects.filter(pk=form.instance.pk).first()
    context: dict[str, Any] = {
        "form": form,
        "boxes": [(box, found[box.name]) for box in form.boxes()],
        "profile": stored,
        "source": source,
        "previewed": asked and is_valid,
        **_rules(stored or source, configs),
    }
    return render(request, "profiles/profile.html", context, status=200 if is_valid else 400)


def _rules(shown: Profile | None, configs: Configs) -> dict[str, Any]:
    if shown is None:
        return {}
    try:
        return {"rules": rule_rows(shown), "widened": widenings(shown, configs)}
    except ProfileError as error:
        return {"rules_fault": str(error)}


@decision_view("profile", "profile_id")
def profile_delete(request: EditorRequest, profile_id: int) -> HttpResponse:
    """Delete a profile; runs that used it keep their settings."""
    gone = get_object_or_404(Profile, pk=profile_id)
    if gone.is_default:
        messages.error(request, "The default profile cannot be deleted: runs that name no profile use it.")
        return redirect("profile", profile_id=profile_id)
    gone.delete()
    messages.success(request, f"The profile {gone.name} is deleted. Its runs and their pairs stay.")
    return redirect("profiles")


def rule_new(request: EditorRequest, profile_id: int) -> HttpResponse:
    """Add a rule to a profile."""
    return _rule_page(request, ProfileRule(profile=get_object_or_404(Profile, pk=profile_id)))


def rule(request: EditorRequest, profile_id: int, rule_id: int) -> HttpResponse:
    """Show and change a rule of a profile."""
    return _rule_page(request, get_object_or_404(ProfileRule, pk=rule_id, profile=profile_id))


def _rule_page(request: EditorRequest, shown: ProfileRule) -> HttpResponse:
    try:
        configs = configs_of(shown.profile.settings)
    except ProfileError as error:
        messages.error(request, f"The profile cannot be used: {error}. Correct and save it first.")
        return redirect("profile", profile_id=shown.profile_id)
    form = RuleForm(request.POST or None, instance=shown, configs=configs)
    if form.is_bound and form.is_valid():
        form.save()
        messages.success(request, f"The rule for {form.instance} is saved. The next run follows it.")
        return redirect("profile", profile_id=shown.profile_id)
    context = {"form": form, "profile": shown.profile, "rule": shown}
    return render(request, "profiles/rule.html", context, status=400 if form.is_bound else 200)


@decision_view("profile", "profile_id")
def rule_delete(request: EditorRequest, profile_id: int, rule_id: int) -> HttpResponse:
    """Delete a rule of a profile."""
    gone = get_object_or_404(ProfileRule, pk=rule_id, profile=profile_id)
    gone.delete()
    messages.success(request, f"The rule for {gone} is deleted.")
    return redirect("profile", profile_id=profile_id)
