"""The admin pages of newspapers and their aliases: what only admins change."""

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.forms import SimpleArrayField
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join

from articles.boilerplate.rules import LEAST_ARTICLES
from articles.jobs.attached_copies import request_separation
from articles.models import Newspaper, NewspaperAlias
from articles.normalization.url_patterns import pattern_fault
from articles.storage.ingest import writing
from articles.storage.renormalization import mark_outdated
from articles.storage.title_affixes import update_affixes
from articles.storage.url_parameters import update_forms_with

# The affixes removed from headlines depend on these fields.
_AFFIX_FIELDS = {"name", "title_affixes", "refused_affixes"}


class OnePerLine(SimpleArrayField):
    """A list, written with one value per line; empty lines are ignored."""

    def __init__(self, base_field: forms.Field, **kwargs: Any) -> None:
        super().__init__(base_field, delimiter="\n", widget=forms.Textarea(attrs={"rows": 4, "cols": 80}), **kwargs)

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str):
            value = "\n".join(line.strip() for line in value.splitlines() if line.strip())
        return super().to_python(value)


class NewspaperForm(forms.ModelForm[Newspaper]):
    """A newspaper, whose name must not be an alias of another one."""

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


class AliasForm(forms.ModelForm[NewspaperAlias]):
    """An alias, which must not be the name of a newspaper."""

    def clean_alias(self) -> str:
        alias = " ".join(self.cleaned_data["alias"].split())
        named = Newspaper.objects.filter(name=alias).first()
        if named and named.current != self.cleaned_data.get("newspaper"):
            raise forms.ValidationError(f"{alias} is a newspaper. To join the two, merge {alias} into this one.")
        return alias


class NewspaperFilter(admin.RelatedFieldListFilter):
    """Filters rows by newspaper, without offering those that were merged into another one."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> Any:
        ordering = self.field_admin_ordering(field, request, model_admin)
        return field.get_choices(include_blank=False, ordering=ordering, limit_choices_to={"merged_into": None})


@admin.register(NewspaperAlias)
class AliasAdmin(admin.ModelAdmin[NewspaperAlias]):
    form = AliasForm
    fields = ["newspaper", "alias"]
    list_display = ["alias", "newspaper"]
    list_filter = [("newspaper", NewspaperFilter)]
    list_select_related = ["newspaper"]
    search_fields = ["alias"]

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Do not offer merged newspapers."""
        return super().formfield_for_foreignkey(db_field, request, queryset=Newspaper.objects.in_use(), **kwargs)


@admin.register(Newspaper)
class NewspaperAdmin(admin.ModelAdmin[Newspaper]):
    """Newspapers, and where the crawler finds their articles. Merged ones are left out."""

    form = NewspaperForm
    list_display = ["name", "host", "owner", "edition", "crawl"]
    list_filter = ["crawl", "owner", "edition"]
    search_fields = ["name", "host", "owner", "edition", "aliases__alias"]
    readonly_fields = ["also_known_as", "learnt", "learnt_parameters"]
    actions = ["store_copies"]
    fieldsets = [
        (None, {"fields": ["name", "host", "also_known_as", "kept_url_parameters", "learnt_parameters", "attach"]}),
        ("Groups in reports", {"fields": ["owner", "edition"]}),
        ("Headlines", {"fields": ["title_affixes", "learnt", "refused_affixes"]}),
        ("Texts", {"fields": ["boilerplate_articles"]}),
        (
            "Crawling",
            {"fields": ["crawl", "teasers", "feed_urls", "sitemap_urls", "section_urls", "article_url_pattern"]},
        ),
        ("Later versions", {"fields": ["revision_days"]}),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Newspaper]:
        """Leave out merged newspapers; every page about a newspaper looks it up here."""
        return super().get_queryset(request).filter(merged_into=None)

    @admin.action(description="Store the attached copies as articles of their own", permissions=["change"])
    def store_copies(self, request: HttpRequest, newspapers: QuerySet[Newspaper]) -> None:
        for newspaper in newspapers:
            request_separation(newspaper, request.user)
        self.message_user(request, "A worker stores the attached copies as articles of their own; see Jobs.")

    @admin.display(description="also known as")
    def also_known_as(self, newspaper: Newspaper) -> str:
        """Show the aliases, and the names and hosts of the newspapers merged into this one, one per line."""
        if not newspaper.pk:
            return "nothing yet"
        names = list(newspaper.aliases.values_list("alias", flat=True))
        for both in newspaper.merged_newspapers.values_list("name", "host"):
            names += filter(None, both)
        return "\n".join(dict.fromkeys(names)) or "nothing yet"

    @admin.display(description="learnt affixes")
    def learnt(self, newspaper: Newspaper) -> str:
        """Show one affix per line, as in the other lists."""
        return "\n".join(newspaper.learnt_affixes) or "none yet"

    @admin.display(description="learnt URL parameters")
    def learnt_parameters(self, newspaper: Newspaper) -> str:
        """Show which parameters distinguish stories, and the two URLs that showed it."""
        learnt = newspaper.learnt_parameters.order_by("learnt_at") if newspaper.pk else ()
        rows = [
            (parameter.name, parameter.learnt_at.date(), parameter.first_url, parameter.second_url)
            for parameter in learnt
        ]
        shown = format_html_join("", "<li><strong>{}</strong>, {}: {} and {}</li>", rows)
        return format_html("<ul>{}</ul>", shown) if rows else "none yet"

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Use OnePerLine for lists: Django's field separates values with commas, which URLs may contain."""
        if not isinstance(db_field, ArrayField):
            return super().formfield_for_dbfield(db_field, request, **kwargs)
        base = db_field.base_field
        scheme: dict[str, Any] = {"assume_scheme": "https"} if isinstance(base, models.URLField) else {}
        return OnePerLine(
            cast("forms.Field", base.formfield(**scheme)),
            required=not db_field.blank,
            label=str(db_field.verbose_name).capitalize(),
            help_text=f"{db_field.help_text} One per line.",
        )

    def save_model(self, request: HttpRequest, obj: Newspaper, form: Any, change: bool) -> None:
        """Save the newspaper; merge the changes to its kept parameters with those learnt since the form was opened."""
        if obj.boilerplate_articles is None:  # the field was emptied
            obj.boilerplate_articles = LEAST_ARTICLES
        before = set(form.initial.get("kept_url_parameters") or ())
        after = {name.lower() for name in obj.kept_url_parameters}
        with writing():
            learnt = Newspaper.objects.filter(pk=obj.pk).values_list("kept_url_parameters", flat=True).first() or ()
            obj.kept_url_parameters = sorted(set(learnt) - (before - after) | after)
            if change:  # only what the form changed: the newspaper may have been merged since it was read
                obj.save(update_fields={*form.changed_data, "kept_url_parameters"})
            else:
                super().save_model(request, obj, form, change)
            update_forms_with(obj, before ^ after)
        if change and _AFFIX_FIELDS & set(form.changed_data):
            with writing():
                outdated = mark_outdated(obj)
            update_affixes([obj])
            # The command does that, which takes longer.
            fault = f"{outdated:,} articles were normalised with outdated rules"
            messages.warning(request, f"{fault}; run manage.py renormalize.")
