"""`manage.py fit_verdicts --corpus`: the command that makes the shipped model."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from articles.models import Article
from dedup.detection.runs import terms
from dedup.detection.verdicts.model import ModelError, VerdictModel, load_model
from dedup.models import DetectionRun, FittedModel
from tests.articles.rows import json_lines
from tests.dedup.research.small_corpus import ARTICLES, LABELS, RAIN, WIRE, row, schemas

# A schema cannot be used by half a transaction.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def corpora(tmp_path) -> list[str]:
    """Return the options that name two corpora."""
    (tmp_path / "coast.jsonl").write_bytes(json_lines(*ARTICLES, row(20, "2026-03-11", "Coast Echo", "Rain", RAIN)))
    (tmp_path / "coast_labels.jsonl").write_bytes(json_lines(*LABELS))
    valley = [
        row(1, "2026-05-02", "Valley Times", "Repairs", WIRE),
        row(2, "2026-05-02", "Hill Gazette", "Harbour", WIRE),
        row(3, "2026-05-03", "Hill Gazette", "Rain", RAIN),
    ]
    (tmp_path / "valley.jsonl").write_bytes(json_lines(*valley))
    labels = [{"a": "n1", "b": "n2", "label": "D"}, {"a": "n1", "b": "n3", "label": "N"}]
    (tmp_path / "valley_labels.jsonl").write_bytes(json_lines(*labels))
    return [
        argument
        for name in ("coast", "valley")
        for argument in ("--corpus", f"{tmp_path}/{name}.jsonl", f"{tmp_path}/{name}_labels.jsonl")
    ]


def fit(*options: str) -> str:
    """Return what the command writes to stdout."""
    output = io.StringIO()
    call_command("fit_verdicts", "--no-progress", "--workers=1", *options, stdout=output, stderr=io.StringIO())
    return output.getvalue()


def refused(*options: str) -> str:
    with pytest.raises(CommandError) as raised:
        fit(*options)
    assert raised.value.returncode == 2
    return str(raised.value)


@pytest.mark.slow
def test_a_model_is_fitted_on_all_corpora_and_the_same_every_time(corpora, tmp_path, monkeypatch) -> None:
    def unusable(_text: str) -> VerdictModel:
        raise ModelError("the model's features differ from this version's; fit it again")

    # As when the features have changed, and the model that ships has to be fitted again.
    monkeypatch.setattr(terms, "load_model", unusable)
    monkeypatch.setattr(terms, "default_model", lambda: unusable(""))
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    assert fit(*corpora, f"--output={first}") == (
        f"Fitted on 8 labelled pairs of 2 corpora: 3 D, 1 V, 2 T, 0 E, 2 N. Written to {first}.\n"
    )
    model = load_model(first.read_text(encoding="utf-8"))
    assert model.learnt_from == {"D": 3, "V": 1, "T": 2, "E": 0, "N": 2}
    assert model.version == "8 labelled pairs of 2 corpora"
    assert max(model.questions["duplicate"].coefficients) > 0
    assert json.loads(fit(*corpora, f"--output={second}", "--format=json")) == {
        "file": str(second),
        "learnt_from": {"D": 3, "V": 1, "T": 2, "E": 0, "N": 2},
    }
    assert first.read_bytes() == second.read_bytes()
    assert (Article.objects.count(), DetectionRun.objects.count(), FittedModel.objects.count()) == (0, 0, 0)
    assert schemas() == []


def test_options_that_do_not_go_together_are_refused(corpora, tmp_path) -> None:
    output = f"--output={tmp_path}/model.json"
    together = "--corpus and --output go together: name the corpora to fit on, and the file to write to."
    assert refused(*corpora) == refused(output) == together
    assert refused(*corpora, output, "--switch-on") == (
        "--corpus fits a model of its own; leave out --labels, --use, --list and --switch-on."
    )
    assert refused(*corpora, f"--output={tmp_path}") == (
        f"--output {tmp_path} is a folder, or in no folder; name a file in a folder that exists."
    )
    assert refused(*corpora[:2], output) == (
        f"--corpus {corpora[1]} has no labels; name its files of labels after the file of articles."
    )
    assert not Path(f"{tmp_path}/model.json").exists()


@pytest.mark.slow
def test_corpora_without_duplicates_fit_no_model(corpora, tmp_path) -> None:
    labels = tmp_path / "others.jsonl"
    labels.write_bytes(json_lines({"a": "n1", "b": "n3", "label": "N"}))
    message = refused("--corpus", f"{tmp_path}/valley.jsonl", str(labels), f"--output={tmp_path}/model.json")
    assert message == "fitting needs at least one duplicate and one pair that is not; label more pairs."
    assert not Path(f"{tmp_path}/model.json").exists()
