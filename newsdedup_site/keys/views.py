"""The page on which users choose their keys, and the switch that every page has."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme

from newsdedup_site.access.middleware import UserRequest
from newsdedup_site.keys.actions import ACTIONS
from newsdedup_site.keys.maps import Keys, KeysError, keys_of, store_keys, switch_keys


class KeysForm(forms.Form):
    """The key of each action, empty for none, and whether any key does anything."""

    on = forms.BooleanField(
        required=False,
        label="Use keys",
        help_text="Without keys, every button and link still works.",
        widget=forms.CheckboxInput(attrs={"class": "form-check-input"}),
    )

    def __init__(self, *args: Any, keys: Keys, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["on"].initial = keys.on
        for name, action in ACTIONS.items():
            attrs = {"class": "form-control key-field", "autocomplete": "off", "autocapitalize": "off"}
            self.fields[name] = forms.CharField(
                required=False,
                max_length=20,
                label=action.label[0].upper() + action.label[1:],
                initial=keys.by_action[name],
                widget=forms.TextInput(attrs={**attrs, "size": 3, "spellcheck": "false"}),
            )

    def store(self, user: User) -> bool:
        """Store the keys of a valid form; on a refusal, show each fault at its field and return False."""
        by_action = {name: self.cleaned_data[name] for name in ACTIONS}
        try:
            store_keys(user, on=self.cleaned_data["on"], by_action=by_action)
        except KeysError as error:
            for name, fault in error.faults.items():
                self.add_error(name, fault)
            return False
        return True


def keys(request: UserRequest) -> HttpResponse:
    """Show the keys of the user, and store those that the form chooses."""
    if request.method == "POST" and "reset" in request.POST:
        store_keys(request.user, on=True, by_action={name: action.key for name, action in ACTIONS.items()})
        messages.success(request, "All keys are as they were at first.")
        return redirect("keys")
    form = KeysForm(request.POST or None, keys=keys_of(request.user))
    if request.method == "POST" and form.is_valid() and form.store(request.user):
        messages.success(request, "Your keys are saved.")
        return redirect("keys")
    return render(request, "keys/keys.html", {"form": form}, status=400 if form.errors else 200)


def keys_switch(request: UserRequest) -> HttpResponse:
    """Switch all keys of the user on or off, and return to the page."""
    if request.method == "POST":
        on = request.POST.get("on") == "1"
        switch_keys(request.user, on=on)
        messages.success(request, "Keys are on." if on else "Keys are off. The page Keys switches them on again.")
    wanted = request.POST.get("next", "")
    allowed = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return redirect(wanted if allowed else "keys")
