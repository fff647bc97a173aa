"""What runs detect with: profiles with their rules for newspapers, and the model, with what it can learn."""

from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from articles.models import Job
from articles.numbers import read_number
from dedup.detection.runs.profiles import Configs, ProfileError, configs_of
from dedup.forms.base import ModelForm
from dedup.forms.profiles import ProfileForm, RuleForm, copy_of
from dedup.models import FittedModel, Profile, ProfileRule
from dedup.research.lessons import HeldBackError, answers_missing, ask_for_lesson, check_use, verification_of
from dedup.review.rules.profiles import effects, passes_in_use, rule_rows, save_profile, widenings
from dedup.views.requests import EditorRequest, decision_view, refusals, say


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
    form = ProfileForm(request.POST or None, instance=copy_of(source) if source else Profile())
    return _form_page(request, form, source=source)


def profile(request: EditorRequest, profile_id: int) -> HttpResponse:
    """Show and change a profile."""
    shown = get_object_or_404(Profile, pk=profile_id)
    return _form_page(request, ProfileForm(request.POST or None, instance=shown))


def _form_page(request: EditorRequest, form: ProfileForm, *, source: Profile | None = None) -> HttpResponse:
    """Save the form, or show it with what its settings would do."""
    is_valid = not form.is_bound or form.is_valid()
    asked = "preview" in request.POST
    if form.is_bound and is_valid and not asked:
        reschedule = "nightly_at" in form.changed_data
        is_asked = save_profile(form.instance, rules_of=source, reschedule=reschedule, user=request.user)
        more = " A worker rebuilds the clusters by what now counts as the same." if is_asked else ""
        messages.success(request, f"The profile {form.instance.name} is saved. Its next run uses these settings.{more}")
        return redirect("profile", profile_id=form.instance.pk)
    configs = form.configs()
    found = effects(configs)
    stored = Profile.objects.filter(pk=form.instance.pk).first()
    context: dict[str, Any] = {
        "form": form,
        "boxes": [(box, found[box["name"]]) for box in form.boxes(configs)],
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


def rule(request: EditorRequest, profile_id: int, rule_id: int | None = None) -> HttpResponse:
    """Show and change a rule of a profile, or add one, for the newspaper or collection that the address may name."""
    if rule_id is None:
        shown = ProfileRule(profile=get_object_or_404(Profile, pk=profile_id))
    else:
        shown = get_object_or_404(ProfileRule, pk=rule_id, profile=profile_id)
    try:
        configs = configs_of(shown.profile.settings)
    except ProfileError as error:
        messages.error(request, f"The profile cannot be used: {error}. Correct and save it first.")
        return redirect("profile", profile_id=shown.profile_id)
    initial = {"newspaper": request.GET.get("newspaper")}
    form = RuleForm(request.POST or None, instance=shown, initial=initial, configs=configs)
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


# Of the lessons, of the models, and of the pairs to answer first.
SHOWN = 10


def learning(request: HttpRequest) -> HttpResponse:
    """Show the latest lesson and the models, and offer to learn."""
    jobs = list(Job.objects.filter(kind="lesson").select_related("requested_by", "lesson__model")[:SHOWN])
    latest = jobs[0] if jobs else None
    lesson = getattr(latest, "lesson", None)
    verification = verification_of(lesson) if lesson else None
    models = FittedModel.objects.prefetch_related("lessons")[:SHOWN]
    context = {
        "verification": verification,
        "to_answer": verification.to_answer[:SHOWN] if verification else [],
        "missing": answers_missing(),
        "job": latest,
        "lesson": lesson,
        "earlier": jobs[1:],
        "models": [(model, _is_held_back(model)) for model in models],
        "in_use": FittedModel.objects.filter(in_use=True).first(),
    }
    return render(request, "learning/learning.html", context)


def _is_held_back(model: FittedModel) -> bool:
    found = [verification_of(lesson) for lesson in model.lessons.all()]
    return any(verification and verification.held_back for verification in found)


@decision_view("learning")
def learn(request: EditorRequest) -> HttpResponse:
    """Queue a lesson."""
    _, is_new = ask_for_lesson(request.user)
    queued = "The lesson is queued. Reload this page to see how far it is."
    say(request, is_new, queued, "A lesson is under way already; there is one at a time.", messages.INFO)
    return redirect("learning")


@decision_view("learning")
def model_use(request: EditorRequest) -> HttpResponse:
    """Put a model into use, the one that ships or one learnt here."""
    from dedup.research.learning import LearningError, use  # noqa: PLC0415 - imports the comparison and its kernels

    form = ModelForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was switched: the form named no model.")
        return redirect("learning")
    with refusals(request, LearningError, HeldBackError, text="Nothing was switched: {}."):
        if (number := read_number(form.cleaned_data["model"])) is not None:
            check_use(number)
        fitted = use(form.cleaned_data["model"])
        name = f"Model {fitted.pk}" if fitted else "The shipped model"
        messages.success(request, f"{name} is in use. The next run judges all pairs with it.")
    return redirect("learning")
