"""The list of people, the page of a person, and what an admin does there."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache

from articles.forms import StyledForm, UserRequest
from articles.normalization.language import LANGUAGES, language_name
from articles.paging import page_of
from articles.storage.audit_log import logged_actions
from dedup.review.questions.routes import left_out
from dedup.rows.filtering import units
from dedup.views.requests import faults_of, refusals
from newsdedup_site.logins import locks
from newsdedup_site.people import actions

ROLES = [
    ("viewer", "viewer: reads everything"),
    ("editor", "editor: also decides on pairs and clusters"),
    ("admin", "admin: also starts runs, changes settings and manages people"),
]
LANGUAGES_OFFERED = [(code, language_name(code)) for code in sorted(LANGUAGES, key=language_name)]


class PersonForm(StyledForm):
    role = forms.ChoiceField(choices=ROLES, initial="editor")
    email = forms.EmailField(
        required=False,
        label="E-mail",
        help_text="Optional. One-time links are also sent there if this installation can send e-mail.",
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    units = forms.TypedMultipleChoiceField(required=False, coerce=int, choices=units, label="Asked about")
    languages = forms.MultipleChoiceField(required=False, choices=LANGUAGES_OFFERED, label="In these languages")


class UnlockForm(forms.Form):
    """What to unlock: a name, an address, or a name at an address."""

    name = forms.CharField(required=False, max_length=150, strip=False)
    address = forms.GenericIPAddressField(required=False)


class InviteForm(PersonForm):
    field_order = ("name", "role", "email")
    name = forms.CharField(
        label="User name",
        help_text="They log in with it, and the history shows it. Letters, digits and @ . + - _ only.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )

    def clean_name(self) -> str:
        """Return the name in the form that the login page compares, if it is valid."""
        return actions.checked_name(self.cleaned_data["name"])


def people(request: HttpRequest) -> HttpResponse:
    """List the people, and the latest changes."""
    page = page_of(actions.people(), request.GET.get("page"))
    locked = locks()
    rows = [actions.describe(person, locked) for person in page.rows]
    context = {"page": page, "rows": rows, "changes": logged_actions(User)[: actions.SHOWN_CHANGES], "locks": locked}
    return render(request, "people/people.html", context | {"left_out": left_out()})


def people_changes(request: HttpRequest) -> HttpResponse:
    return render(request, "people/changes.html", {"page": page_of(logged_actions(User), request.GET.get("page"))})


def person(request: UserRequest, person_id: int) -> HttpResponse:
    """Show a person, with forms for what can be done."""
    return _page(request, _find(person_id), None)


@never_cache
def person_invite(request: UserRequest) -> HttpResponse:
    """Make a new person, and show the link with which they set a password."""
    form = InviteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with faults_of(form, actions.PersonError, field="name"):
            return _show_link(request, actions.invite(**form.cleaned_data, by=request.user))
    return render(request, "people/invite.html", {"form": form}, status=400 if form.is_bound else 200)


def unlock(request: UserRequest) -> HttpResponse:
    """Forget the wrong passwords for a name, from an address, or for both."""
    form = UnlockForm(request.POST)
    if request.method == "POST" and form.is_valid():
        if actions.unlock(**form.cleaned_data, by=request.user):
            messages.success(request, f"Unlocked: {' from '.join(filter(None, form.cleaned_data.values()))}.")
        else:
            messages.warning(request, "Nothing was locked there any more.")
    return redirect("people")


def action(view: Callable[..., HttpResponse | None]) -> Callable[..., HttpResponse]:
    """Make a view that does something with a person: it shows a PersonError, and returns to the person's page.

    A GET only shows the page: browsers send one after a login if the session had ended when the form was posted.
    """

    @wraps(view)
    def answer(request: UserRequest, person_id: int) -> HttpResponse:
        found = _find(person_id)
        if request.method == "POST":
            with refusals(request, actions.PersonError):
                if (shown := view(request, found)) is not None:
                    return shown
        return redirect("person", person_id)

    return answer


@action
def person_change(request: UserRequest, found: User) -> HttpResponse | None:
    form = PersonForm(request.POST)
    if not form.is_valid():
        return _page(request, found, form)
    changes = actions.change(found.pk, **form.cleaned_data, by=request.user)
    messages.success(request, f"{found.get_username()} {' and '.join(changes)}." if changes else "Nothing was changed.")
    return None


@never_cache
@action
def person_link(request: UserRequest, found: User) -> HttpResponse:
    """Show a one-time link with which a person sets a password; until they do, the old one works."""
    return _show_link(request, found)


@action
def person_block(request: UserRequest, found: User) -> None:
    actions.block(found.pk, by=request.user)
    messages.success(request, f"{found.get_username()} is blocked and logged out everywhere.")


@action
def person_unblock(request: UserRequest, found: User) -> None:
    actions.unblock(found.pk, by=request.user)
    messages.success(request, f"{found.get_username()} can log in again.")


def _find(person_id: int) -> User:
    return get_object_or_404(actions.people(), pk=person_id)


def _page(request: UserRequest, found: User, form: PersonForm | None) -> HttpResponse:
    shown, route = actions.describe(found, locks()), getattr(found, "route", None)
    asked = {"units": list(route.named), "languages": route.languages} if route else {}
    context = {
        "person": shown,
        "form": form or PersonForm(initial=asked | {"role": shown["role"], "email": found.email}),
        "is_oneself": found.pk == request.user.pk,
        "history": logged_actions(User, object_id=found.pk)[: actions.SHOWN_CHANGES],
    }
    return render(request, "people/person.html", context, status=400 if form else 200)


def _show_link(request: UserRequest, found: User) -> HttpResponse:
    link = actions.make_link(request, found, by=request.user)
    return render(request, "people/link.html", {"person": found, "link": link})


@method_decorator(never_cache, name="dispatch")
class SetPassword(PasswordResetConfirmView):
    """Where a one-time link leads: choose a password, and be logged in."""

    template_name = "people/set_password.html"
    success_url = reverse_lazy("dashboard")
    post_reset_login = True
    post_reset_login_backend = "newsdedup_site.access.backend.RightsBackend"

    user: User

    def get_user(self, uidb64: str) -> Any:
        """Return the person of the link, unless they are blocked."""
        found = super().get_user(uidb64)
        return found if found is not None and found.is_active else None

    def form_valid(self, form: Any) -> HttpResponse:
        """Store the password; every session of the person ends, and this one begins."""
        answer = super().form_valid(form)
        actions.record_password(self.user)
        messages.success(self.request, "Your password is set, and you are logged in.")
        return answer

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        """Answer 410 Gone for a link that was used or has expired."""
        return super().render_to_response(context, status=200 if self.validlink else 410, **kwargs)
