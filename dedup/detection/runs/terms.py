"""What all verdicts of a run rest on: the model, and what the profile says."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from articles.boilerplate.mode import Mode
from dedup.detection.judging.judge import Terms
from dedup.detection.verdicts.model import VerdictModel, default_model, dump_model, load_model
from dedup.models import FittedModel


@dataclass(frozen=True, slots=True)
class RunTerms:
    """The terms of a run as any process can read them: the model as dump_model writes it."""

    model: str
    versions_join: bool = False
    boilerplate: Mode = Mode.KEEP

    def loaded(self) -> Terms:
        """Return the terms with the model ready for use."""
        return Terms(_model(self.model), self.versions_join, self.boilerplate)


def model_in_use() -> VerdictModel:
    """Return the model that gives the verdicts: the installation's own, or the one shipped with the program."""
    fitted = FittedModel.objects.filter(in_use=True).first()
    return load_model(fitted.content) if fitted else default_model()


def terms_in_force(*, versions_join: bool, boilerplate: Mode = Mode.KEEP) -> RunTerms:
    """Return the terms of a run that starts now."""
    return RunTerms(dump_model(model_in_use()), versions_join, boilerplate)


@lru_cache(maxsize=2)
def _model(content: str) -> VerdictModel:
    return load_model(content)
