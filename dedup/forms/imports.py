"""The form that takes a file to import."""

from __future__ import annotations

from django import forms

from articles.files.uploads import ENDINGS
from articles.storage.incoming import MAX_NEWSPAPER_CHARACTERS


class ImportForm(forms.Form):
    """A file, and the newspaper of rows that name none."""

    file = forms.FileField(
        max_length=255,
        allow_empty_file=False,
        help_text="JSON lines or CSV, also compressed with gzip: .jsonl, .jsonl.gz, .csv or .csv.gz.",
        widget=forms.FileInput(attrs={"class": "form-control", "accept": ",".join((*ENDINGS, ".gz"))}),
    )
    newspaper = forms.CharField(
        required=False,
        max_length=MAX_NEWSPAPER_CHARACTERS,
        help_text="Of rows that do not name one. If empty: the newspaper of the URL’s host.",
        widget=forms.TextInput(attrs={"class": "form-control", "autocomplete": "off"}),
    )

    def clean_newspaper(self) -> str:
        """Return the name without superfluous blanks."""
        return " ".join(self.cleaned_data["newspaper"].replace("\0", "").split())
