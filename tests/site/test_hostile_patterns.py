"""Whatever somebody may type as a pattern or selector is refused if it would keep a process busy."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.apps import apps
from django.forms import BaseForm
from django.http import QueryDict
from django.urls import get_resolver

from articles.extraction.rules import FIELDS
from articles.forms import SettingsForm
from articles.models import ExtractionRule as SavedRule
from articles.models import Newspaper
from crawlers.requested.forms import DraftForm
from dedup.forms.profiles import ExtractionRuleForm

pytestmark = pytest.mark.django_db

_PATTERN = re.compile(r"pattern|selector|regular expression|xpath|glob\b", re.IGNORECASE)
# Each condition looks at the whole page for each element of the one around it.
SELECTOR = "//*[count(" * 9 + "//*" + ") > 1]" * 9
SLOW = dict.fromkeys(FIELDS, SELECTOR) | {"article_url_pattern": "(1|1)+$"}
# A crawl copies the newspaper's pattern to what it stores of a source, to see whether it has changed since.
STORED = {"articles.Newspaper.article_url_pattern", "crawlers.SourceValidator.article_url_pattern"}


def is_of_patterns(*words: object) -> bool:
    return any(_PATTERN.search(str(word)) for word in words)


def forms() -> Iterator[tuple[str, type[BaseForm]]]:
    """Yield every form of ours."""
    assert get_resolver().url_patterns  # which loads the pages
    waiting = [BaseForm]
    while waiting:
        form = waiting.pop()
        waiting += form.__subclasses__()
        if form.__module__.partition(".")[0] in ("articles", "crawlers", "dedup", "newsdedup_site"):
            yield form.__qualname__, form


@pytest.mark.slow
def test_every_form_refuses_what_would_take_too_long() -> None:
    tried = set()
    needed: dict[Any, dict[str, Any]] = {DraftForm: {"found": None}}
    needed[ExtractionRuleForm] = {"saved": SavedRule.objects.none()}
    needed[SettingsForm] = {"instance": Newspaper.objects.create(name="Harbour Post")}
    selectors = {(ExtractionRuleForm, field) for field in FIELDS}
    hostile = [
        (name, form, field_name)
        for name, form in forms()
        for field_name, field in form.base_fields.items()  # type: ignore[attr-defined]
        if (form, field_name) in selectors or is_of_patterns(field_name, field.label, field.help_text)
    ]
    for name, form, field in hostile:
        assert field in SLOW, f"{name} has the field {field}: give it a hostile value here"
        more = needed.get(form, {})
        faults = form(QueryDict(urlencode({field: SLOW[field]})), **more).errors[field]
        assert re.search("takes (too long|more than 1 second)", str(faults)), (name, field, faults)
        tried.add((name, field))
    rules = {("ExtractionRuleForm", field) for field in FIELDS}
    assert tried == rules | {(name, "article_url_pattern") for name in ("DraftForm", "SettingsForm")}


def test_no_other_table_stores_patterns() -> None:
    fields = [field for model in apps.get_models() for field in model._meta.concrete_fields]
    assert {str(field) for field in fields if is_of_patterns(field.name, field.help_text)} == STORED
