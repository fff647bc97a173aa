"""The forms of the pages about people."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import User

ROLES = [
    ("viewer", "viewer: reads everything"),
    ("editor", "editor: also decides on pairs and clusters"),
    ("admin", "admin: also starts runs, changes settings and manages people"),
]


class PersonForm(forms.Form):
    """The role and the e-mail address of a person."""

    role = forms.ChoiceField(choices=ROLES, widget=forms.Select(attrs={"class": "form-select"}))
    email = forms.EmailField(
        required=False,
        label="E-mail",
        help_text="Optional. One-time links are also sent there if this installation can send e-mail.",
        widget=forms.EmailInput(attrs={"class": "form-control", "autocomplete": "off"}),
    )


class UnlockForm(forms.Form):
    """What to unlock: a name, an address, or a name at an address."""

    name = forms.CharField(required=False, max_length=150, strip=False)
    address = forms.GenericIPAddressField(required=False)


class InviteForm(PersonForm):
    """A new person."""

    field_order = ("name", "role", "email")
    name = forms.CharField(
        label="User name",
        help_text="They log in with it, and the history shows it. Letters, digits and @ . + - _ only.",
        widget=forms.TextInput(attrs={"class": "form-control", "autocomplete": "off", "autocapitalize": "none"}),
    )

    def clean_name(self) -> str:
        """Return the name in the form that the login page compares, if it is valid and free."""
        name = User.normalize_username(self.cleaned_data["name"])
        User._meta.get_field("username").clean(name, None)  # noqa: SLF001 - documented, despite its name
        if User.objects.filter(username=name).exists():
            raise forms.ValidationError(f"“{name}” is taken. Choose another name.")
        return name

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["role"].initial = "editor"
