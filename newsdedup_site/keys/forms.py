"""The form with a field for the key of each action."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User

from newsdedup_site.keys.actions import ACTIONS
from newsdedup_site.keys.maps import Keys, KeysError, store_keys


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
