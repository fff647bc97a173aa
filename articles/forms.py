"""The forms of newspapers, and what all forms share: who sends them, lists by line, and the classes of Bootstrap."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from django import forms
from django.contrib.admin.models import CHANGE
from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.forms import BoundField
from django.http import HttpRequest
from django.utils.text import capfirst

from articles.boilerplate.rules import LEAST_ARTICLES
from articles.models import Newspaper, NewspaperAlias
from articles.normalization.logins import without_login
from articles.normalization.url_patterns import pattern_fault
from articles.storage.audit_log import log_action
from articles.storage.ingest import writing
from articles.storage.renormalization import mark_outdated
from articles.storage.title_affixes import update_affixes
from articles.storage.url_parameters import update_forms_with

# The affixes removed from headlines depend on these fields.
_AFFIX_FIELDS = {"name", "title_affixes", "refused_affixes"}
_STYLES = (
    ((forms.CheckboxInput, forms.CheckboxSelectMultiple, forms.RadioSelect), "form-check-input"),
    (forms.Select, "form-select"),
    (forms.Widget, "form-control"),
)


class UserRequest(HttpRequest):
    """A request of somebody who is logged in, as the table of addresses asks for."""

    user: User


def style(fields: Iterable[forms.Field]) -> None:
    """Give the inputs of these fields the classes of Bootstrap, unless their widgets have one of their own."""
    for field in fields:
        field.widget.attrs.setdefault("class", next(name for kind, name in _STYLES if isinstance(field.widget, kind)))


class StyledForm(forms.Form):
    """A form whose inputs have the classes of Bootstrap. GROUPS has names of fields by the heading of their group."""

    GROUPS: Mapping[str, Sequence[str]] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        style(self.fields.values())

    @property
    def groups(self) -> dict[str, list[BoundField]]:
        """The fields of each group."""
        return {heading: [self[name] for name in names] for heading, names in self.GROUPS.items()}


class Lines(forms.CharField):
    """A list, one value per line; empty lines and repetitions are left out. The validators check each value."""

    widget = forms.Textarea(attrs={"rows": 2, "spellcheck": "false"})

    def __init__(self, *, tidy: Callable[[str], str] = str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.tidy = tidy

    def to_python(self, value: Any) -> Any:
        lines = value if isinstance(value, list) else (value or "").splitlines()
        return list(dict.fromkeys(filter(None, (self.tidy(line.strip()) for line in lines))))

    def run_validators(self, value: Any) -> None:
        for line in value:
            try:
                super().run_validators(line)
            except forms.ValidationError as error:
                raise forms.ValidationError([f"“{line[:200]}”: {message}" for message in error.messages]) from error

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value


def field_of(column: Any, **kwargs: Any) -> Any:
    """Return the form field of a column, for a list one with a value per line."""
    if not isinstance(column, ArrayField):
        return column.formfield(**kwargs)
    tidy = without_login if isinstance(column.base_field, models.URLField) else str
    words = {"label": capfirst(column.verbose_name), "help_text": column.help_text} | kwargs
    return Lines(required=False, tidy=tidy, validators=column.base_field.validators, **words)


class NewspaperForm(StyledForm, forms.ModelForm[Newspaper]):
    """What every form of a newspaper checks. Its name must be no other one's, and no alias of another one."""

    class Meta:
        model = Newspaper
        formfield_callback = field_of
        fields: Sequence[str] = ("name",)
        error_messages = {"name": {"unique": "There is a newspaper of this name already. Choose another name."}}

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        alias = NewspaperAlias.objects.exclude(newspaper=self.instance.pk).filter(alias=name).first()
        if alias:
            raise forms.ValidationError(f"{name} is an alias of {alias.newspaper}. Remove the alias first.")
        return name

    def clean_article_url_pattern(self) -> str:
        pattern: str = self.cleaned_data["article_url_pattern"]
        if fault := pattern_fault(pattern):
            raise forms.ValidationError(fault)
        return pattern


_SETTINGS = {
    "Names": ("name", "host", "aliases"),
    "Addresses": ("kept_url_parameters", "attach"),
    "Headlines": ("title_affixes", "refused_affixes"),
    "Texts": ("boilerplate_articles",),
    "Crawling": ("feed_urls", "sitemap_urls", "section_urls", "article_url_pattern", "teasers", "crawl"),
    "Later versions": ("revision_days",),
}


class SettingsForm(NewspaperForm):
    """All settings of a newspaper. What was changed is what differs from what the page showed when it was opened."""

    class Meta(NewspaperForm.Meta):
        fields = list(chain(*_SETTINGS.values()))

    GROUPS = _SETTINGS
    aliases = Lines(
        label="Other names",
        required=False,
        tidy=lambda line: " ".join(line.split()),
        validators=NewspaperAlias.alias.field.validators,
        help_text="Other names as files write them, and other hosts without www, one per line and case-sensitive.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["aliases"] = list(self.instance.aliases.values_list("alias", flat=True))
        for field in self.fields.values():
            field.show_hidden_initial = True

    def clean_aliases(self) -> list[str]:
        """Return the aliases if none is another newspaper, or leads to one."""
        aliases: list[str] = self.cleaned_data["aliases"]
        for named in Newspaper.objects.filter(name__in=aliases):
            if named.current != self.instance:
                raise forms.ValidationError(f"{named} is a newspaper. To join the two, merge {named} into this one.")
        taken = NewspaperAlias.objects.filter(alias__in=aliases).exclude(newspaper=self.instance)
        if alias := taken.select_related("newspaper").first():
            raise forms.ValidationError(f"{alias} is an alias of {alias.newspaper}. Remove it there first.")
        return aliases

    def clean_boilerplate_articles(self) -> int:
        """Return the number, or if the field was emptied the usual one."""
        return self.cleaned_data["boilerplate_articles"] or LEAST_ARTICLES

    def store(self, *, user: Any) -> int:
        """Store what was changed, with its entry in the log; return how many articles have outdated forms by that.

        What was learnt since the page was opened stays, and so does what others changed meanwhile.
        """
        newspaper, changed = self.instance, set(self.changed_data)
        gone, new = self._difference("kept_url_parameters")
        outdated = 0
        with writing():
            learnt = Newspaper.objects.values_list("kept_url_parameters", flat=True).get(pk=newspaper.pk)
            newspaper.kept_url_parameters = sorted(set(learnt) - gone | new)
            newspaper.save(update_fields=changed - {"aliases"})
            update_forms_with(newspaper, gone | new)
            removed, added = self._difference("aliases")
            newspaper.aliases.filter(alias__in=removed).delete()
            for alias in sorted(added):
                newspaper.aliases.get_or_create(alias=alias)
            if _AFFIX_FIELDS & changed:
                outdated = mark_outdated(newspaper)
            if changed:
                words = ", ".join(str(self.fields[name].label) for name in self.fields if name in changed)
                log_action(newspaper, CHANGE, f"Changed: {words}.", user=user)
        if outdated:
            update_affixes([newspaper])
        return outdated

    def _difference(self, name: str) -> tuple[set[str], set[str]]:
        """Return the values of a list that were removed from what the page showed, and those that were added."""
        field = self[name]
        lower = str.lower if name == "kept_url_parameters" else str
        shown: Any = self.fields[name].to_python(self.data.get(field.html_initial_name))
        before, after = (set(map(lower, values)) for values in (shown, self.cleaned_data[name]))
        return before - after, after - before
