"""The pages of newspapers: settings, merges, collections, and the extraction rule of one, tried on stored pages."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from articles.extraction.rules import FIELDS, MAX_SELECTORS
from articles.extraction.trial import TrialError
from articles.forms import SettingsForm
from articles.jobs.attached_copies import request_separation
from articles.models import AttachedCopy, Collection, Newspaper
from articles.models import ExtractionRule as SavedRule
from articles.normalization.logins import without_login
from articles.numbers import counted, read_number
from articles.paging import page_of
from articles.storage.collections import (
    MOST_FOUND,
    collections_counted,
    delete_collection,
    known_kinds,
    newspapers_of,
    newspapers_to_put,
    put_or_take,
    save_collection,
)
from articles.storage.extraction_rules import RuleError, rule_of, save_rule, selectors_of
from articles.storage.newspaper_merges import MergeError
from articles.storage.reextraction import outdated_texts
from dedup.detection.runs.requests import request_reextraction
from dedup.detection.runs.starting import RunActiveError
from dedup.forms.base import CollectionForm, MembersForm, MergeForm
from dedup.forms.profiles import ExtractionRuleForm
from dedup.models import Profile, ProfileRule
from dedup.reports.computing import forget_grouped
from dedup.review.answers.newspaper_merges import done_line, merge_newspapers, merges_made, preview_merge, undo_merge
from dedup.review.rules.trials import try_on_pages
from dedup.views.requests import EditorRequest, decision_view, faults_of, reasons_of, refusals, say


def newspaper_settings(request: EditorRequest, newspaper_id: int) -> HttpResponse:
    """Show and change the settings of a newspaper; or have a worker make articles of its attached copies."""
    newspaper = _newspaper(newspaper_id)
    if "separate" in request.POST:
        asked = request_separation(newspaper, request.user)
        done = "A worker stores the attached copies as articles of their own; see Jobs."
        say(request, asked, done, "This waits for a worker already.")
        return redirect("newspaper_settings", newspaper_id)
    form = SettingsForm(request.POST or None, instance=_newspaper(newspaper_id))
    if form.is_valid():
        outdated = form.store(user=request.user)
        more = f" The next run normalises {counted(outdated, 'article')} of it again." if outdated else ""
        messages.success(request, f"The settings of {form.instance} are saved.{more}")
        return redirect("newspaper_settings", newspaper_id)
    context = {
        "newspaper": newspaper,
        "form": form,
        "merged": newspaper.merged_newspapers.order_by("name"),
        "parameters": newspaper.learnt_parameters.order_by("learnt_at"),
        "copies": AttachedCopy.objects.filter(article__newspaper=newspaper).count(),
        "rule": ProfileRule.objects.filter(
            newspaper=newspaper, other=None, collection=None, profile__is_default=True
        ).first(),
        "profile": Profile.objects.filter(is_default=True).first(),
    }
    return render(request, "newspapers/settings.html", context, status=400 if form.is_bound else 200)


def merges(request: EditorRequest) -> HttpResponse:
    """Show what merging the chosen newspapers would change, and all merges."""
    chosen = request.GET.keys() >= {"merged", "into"}
    form = MergeForm(request.GET) if chosen else MergeForm(initial=request.GET.dict())
    context: dict[str, Any] = {"form": form, "page": page_of(merges_made(), request.GET.get("page"))}
    if form.is_valid():
        with faults_of(form, MergeError, field="into", text="{}."):
            context["preview"] = preview_merge(**form.cleaned_data)
    return render(request, "newspapers/merges.html", context, status=400 if form.errors else 200)


@decision_view("newspaper_merges")
def merge(request: EditorRequest) -> HttpResponse:
    """Merge a newspaper into another one."""
    form = MergeForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was merged: choose two newspapers of the list.")
        return redirect("newspaper_merges")
    with refusals(request, MergeError, RunActiveError, text="Nothing was merged: {}."):
        messages.success(request, done_line(merge_newspapers(**form.cleaned_data, user=request.user)))
    return redirect("newspaper_merges")


@decision_view("newspaper_merges")
def merge_undo(request: EditorRequest, merge_id: int) -> HttpResponse:
    """Undo a merge."""
    with refusals(request, MergeError, RunActiveError, text="Nothing was undone: {}."):
        messages.success(request, undo_merge(get_object_or_404(merges_made(), pk=merge_id), user=request.user))
    return redirect("newspaper_merges")


def collections(request: HttpRequest) -> HttpResponse:
    """List the collections, with their newspapers and articles."""
    context = {"rows": collections_counted(), "form": CollectionForm(), "kinds": known_kinds()}
    return render(request, "newspapers/collections.html", context)


@decision_view("collections")
def collection_new(request: EditorRequest) -> HttpResponse:
    """Make a collection."""
    form = CollectionForm(request.POST)
    if not form.is_valid():
        messages.error(request, f"Nothing was made. {' '.join(reasons_of(form))}")
        return redirect("collections")
    save_collection(form.instance, user=request.user)
    return redirect("collection", form.instance.pk)


def collection(request: HttpRequest, collection_id: int) -> HttpResponse:
    """Show the newspapers of a collection, and those that a search finds, to be put in."""
    shown, typed = get_object_or_404(Collection, pk=collection_id), request.GET.get("q", "").replace("\0", "").strip()
    found = newspapers_to_put(shown, typed) if typed else []
    context = {"collection": shown, "form": CollectionForm(instance=shown), "newspapers": newspapers_of([shown])}
    return render(request, "newspapers/collection.html", context | {"typed": typed, "found": found, "most": MOST_FOUND})


@decision_view("collection", "collection_id")
def collection_change(request: EditorRequest, collection_id: int, act: str) -> HttpResponse:
    """Put newspapers into a collection, take them out, rename it, or delete it."""
    shown = get_object_or_404(Collection, pk=collection_id)
    form = CollectionForm(request.POST, instance=shown) if act == "rename" else MembersForm(request.POST)
    if act == "delete":
        delete_collection(shown, user=request.user)
        messages.success(
            request, f"The collection {shown} is deleted, with its rules of profiles. Its newspapers stay."
        )
    elif not form.is_valid():
        messages.error(request, f"Nothing was changed. {' '.join(reasons_of(form))}")
    elif act == "rename":
        save_collection(shown, user=request.user)
    elif moved := put_or_take(shown, form.cleaned_data["newspapers"], put=act == "put", user=request.user):
        messages.success(request, f"{counted(moved, 'newspaper')} left another collection by {shown.kind}.")
    forget_grouped()
    return redirect("collections") if act == "delete" else redirect("collection", collection_id)


def extraction_rule(request: EditorRequest, newspaper_id: int) -> HttpResponse:
    """Show a newspaper's rule, or an older version of it; try another one on its pages, and save it."""
    newspaper = _newspaper(newspaper_id)
    if request.method != "POST":
        form = ExtractionRuleForm(saved=newspaper.extraction_rules, initial=_initial(request, newspaper))
        return _page(request, newspaper, form)
    form = ExtractionRuleForm(request.POST, saved=newspaper.extraction_rules)
    if not form.is_valid():
        return _page(request, newspaper, form)
    with faults_of(form, TrialError, RuleError):
        if "save" in request.POST:
            return _saved(request, newspaper, form)
        trial = try_on_pages(newspaper, form.rule, url=form.cleaned_data["url"], user=request.user)
        return _page(request, newspaper, form, trial=trial)
    return _page(request, newspaper, form)


@decision_view("extraction_rule", "newspaper_id")
def extraction_rule_apply(request: EditorRequest, newspaper_id: int) -> HttpResponse:
    """Have a worker extract the stored pages of a newspaper again."""
    asked = request_reextraction(_newspaper(newspaper_id), request.user)
    done = "The stored pages are extracted again by a worker, one after the other."
    say(request, asked, done, "This waits for a worker already.")
    return redirect("extraction_rule", newspaper_id)


def _newspaper(newspaper_id: int) -> Newspaper:
    return get_object_or_404(Newspaper.objects.in_use().select_related("extraction_rule"), pk=newspaper_id)


def _initial(request: HttpRequest, newspaper: Newspaper) -> dict[str, Any]:
    """Return what the form shows first: the rule in use, or the version that the address names."""
    rule, restores = rule_of(newspaper), None
    number = read_number(request.GET.get("version", ""))
    if number is not None and (older := newspaper.extraction_rules.filter(pk=number).first()):
        rule, restores = selectors_of(older), older.pk
    shown = {field: rule.selectors(field) for field in FIELDS}
    return {**shown, "restores": restores, "url": without_login(request.GET.get("url", "").replace("\0", ""))[:2_000]}


def _saved(request: EditorRequest, newspaper: Newspaper, form: ExtractionRuleForm) -> HttpResponse:
    """Save the rule of a valid form. Raises RuleError."""
    rule, restores = form.rule, form.cleaned_data["restores"]
    if restores and any(rule.selectors(field) != selectors_of(restores).selectors(field) for field in FIELDS):
        restores = None  # it was changed in the form
    save_rule(newspaper, rule, user=request.user, note=form.cleaned_data["note"], restores=restores)
    what = "The rule is saved. New pages are extracted by it" if rule else "The newspaper has no rule of its own now"
    messages.success(request, f"{what} from the next crawl on.")
    return redirect("extraction_rule", newspaper.pk)


def _page(request: HttpRequest, newspaper: Newspaper, form: ExtractionRuleForm, **context: Any) -> HttpResponse:
    saved = newspaper.extraction_rules.select_related("saved_by", "restores").order_by("-pk")
    history = page_of(saved, request.GET.get("page"))
    context |= {
        "newspaper": newspaper,
        "form": form,
        "most": MAX_SELECTORS,
        "history": [(row, _lines(row)) for row in history.rows],
        "page": history,
        "outdated": outdated_texts([newspaper]).count(),
    }
    return render(request, "newspapers/extraction_rule.html", context, status=400 if form.errors else 200)


def _lines(saved: SavedRule) -> list[tuple[str, list[str]]]:
    """Return the fields of a saved rule that have selectors, by the labels of the form."""
    fields = ExtractionRuleForm(saved=SavedRule.objects.none()).fields
    return [(str(fields[field].label), getattr(saved, field)) for field in FIELDS if getattr(saved, field)]
