"""Migrations of rows: what an installation has stored is there after an upgrade, as the program reads it now."""

import json
from importlib import import_module

import pytest
from django.apps import apps

from dedup.detection.verdicts.model import default_model, dump_model
from dedup.models import FittedModel

pytestmark = pytest.mark.django_db


def a_model(*, leans_on_it: float = 0.0, of_today: bool = True) -> str:
    """Return a learnt model, with this coefficient of a feature that was removed later."""
    content = dump_model(default_model())
    document = json.loads(content if of_today else content.replace("fresh phrases contained", "shorter contained"))
    document["questions"]["duplicate"]["coefficients"]["words kept"] = leans_on_it
    return json.dumps(document)


@pytest.mark.parametrize(
    ("migration", "model", "in_use"),
    [
        ("0011_models_of_removed_features", a_model(), True),
        ("0011_models_of_removed_features", a_model(leans_on_it=0.02), False),
        ("0016_models_of_other_features", a_model(), True),
        ("0016_models_of_other_features", a_model(of_today=False), False),
        ("0052_models_of_one_subject", a_model(), True),
        ("0052_models_of_one_subject", a_model().replace("one subject for another", "one for another"), False),
    ],
    ids=lambda value: "model" if isinstance(value, str) and value.startswith("{") else None,
)
def test_a_learnt_model_that_the_program_cannot_use_is_switched_off(migration, model, in_use, capsys) -> None:
    fitted = FittedModel.objects.create(content=model, decisions=50, in_use=True)
    import_module(f"dedup.migrations.{migration}").switch_off(apps, None)
    fitted.refresh_from_db()
    assert fitted.in_use == in_use
    assert ("fit_verdicts --switch-on" in capsys.readouterr().out) != in_use
