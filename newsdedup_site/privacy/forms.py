"""The forms in which an admin says what is removed or withheld, and why."""

from __future__ import annotations

from typing import Any

from django import forms

from articles.models import Newspaper
from newsdedup_site.privacy.removal import MAX_REASON_CHARACTERS


class ReasonForm(forms.Form):
    """Why."""

    reason = forms.CharField(
        max_length=MAX_REASON_CHARACTERS,
        label="Reason",
        help_text="Who asked for it, and why. It stays in the log, so do not quote the article.",
        widget=forms.Textarea(attrs={"class": "form-control", "rows": 3}),
    )


class RemovalForm(ReasonForm):
    """What is removed, typed again so that nobody removes by mistake, and why."""

    field_order = ("confirm", "reason")
    confirm = forms.CharField(
        max_length=300,
        strip=True,
        widget=forms.TextInput(attrs={"class": "form-control", "autocomplete": "off", "autocapitalize": "none"}),
    )

    def __init__(self, *args: Any, wanted: str, what: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._wanted = wanted
        self.fields["confirm"].label = f"Type {what} to confirm"

    def clean_confirm(self) -> str:
        """Return what was typed if it is exactly what is to be removed."""
        typed: str = self.cleaned_data["confirm"]
        if typed != self._wanted:
            raise forms.ValidationError(f"“{typed}” is not “{self._wanted}”. Type it exactly, or nothing is removed.")
        return typed


class PageDaysForm(forms.ModelForm[Newspaper]):
    """For how many days the fetched pages of a newspaper are kept."""

    class Meta:
        model = Newspaper
        fields = ("page_days",)
        labels = {"page_days": "Days"}
        help_texts = {"page_days": "Counted from the day on which a page was fetched. Empty: for ever."}
        widgets = {"page_days": forms.NumberInput(attrs={"class": "form-control", "inputmode": "numeric"})}
