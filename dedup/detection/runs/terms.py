"""What all verdicts of a run rest on: the model, and what the profile says."""

from __future__ import annotations

from articles.boilerplate.mode import Mode
from dedup.detection.judging.judge import Terms
from dedup.detection.verdicts.model import VerdictModel, default_model, dump_model, load_model
from dedup.models import FittedModel


def model_in_use() -> VerdictModel:
    """Return the model that gives the verdicts: the installation's own, or the one shipped with the program."""
    fitted = FittedModel.objects.filter(in_use=True).first()
    return load_model(fitted.content) if fitted else default_model()


def terms_in_force(*, versions_join: bool, boilerplate: Mode = Mode.KEEP) -> Terms:
    """Return the terms of a run that starts now."""
    return Terms(dump_model(model_in_use()), versions_join, boilerplate)
