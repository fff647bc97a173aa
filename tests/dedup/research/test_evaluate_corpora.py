"""`manage.py evaluate` and `fit_verdicts` as commands, with several files of labels and several corpora."""

import json
import re
from pathlib import Path

import pytest

from articles.models import Article
from dedup.detection.runs import judging
from dedup.detection.verdicts.model import ModelError, VerdictModel, load_model
from dedup.models import DetectionRun, FittedModel
from dedup.research import apart
from tests import commands
from tests.articles.rows import json_lines
from tests.commands import called
from tests.dedup.research.small_corpus import (
    ARTICLES,
    GLASS,
    LABELS,
    RAIN,
    WIRE,
    evaluate,
    measured,
    refused,
    row,
    schemas,
)

# A schema cannot be used by half a transaction.
# In one test process, where the tables of scratch schemas are migrated once.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.xdist_group("scratch")]

MORE_ARTICLES = [
    row(1, "2026-05-02", "Valley Times", "Exhibition of glass", f"{GLASS} {WIRE}"),
    row(2, "2026-05-02", "Hill Gazette", "Exhibition of glass", f"{GLASS} {WIRE}"),
    row(3, "2026-05-09", "Hill Gazette", "Wind and rain", RAIN),
]
MORE_LABELS = [{"a": "n1", "b": "n2", "label": "D", "weight": 2}, {"a": "n2", "b": "n3", "label": "N", "weight": 4}]


@pytest.fixture
def corpora(tmp_path) -> dict[str, list[str]]:
    """Return the options that name each of two corpora; the labels of the first one are in two files."""
    (tmp_path / "coast.jsonl").write_bytes(json_lines(*ARTICLES, row(20, "2026-03-11", "Coast Echo", "Rain", RAIN)))
    (tmp_path / "valley.jsonl").write_bytes(json_lines(*MORE_ARTICLES))
    (tmp_path / "first.jsonl").write_bytes(json_lines(*LABELS[:3]))
    (tmp_path / "second.jsonl").write_bytes(json_lines(*LABELS[3:]))
    (tmp_path / "third.jsonl").write_bytes(json_lines(*MORE_LABELS))
    names = {"coast": ("coast", "first", "second"), "valley": ("valley", "third")}
    return {key: ["--corpus", *(f"{tmp_path}/{name}.jsonl" for name in files)] for key, files in names.items()}


@pytest.mark.slow
def test_several_files_of_labels_count_as_one(corpora, tmp_path) -> None:
    _, articles, first, second = corpora["coast"]
    (tmp_path / "fourth.jsonl").write_bytes(json_lines(LABELS[0], {"a": "n1", "b": "n9", "label": "maybe"}))
    result = measured(f"--articles={articles}", "--labels", first, second, f"--labels={tmp_path}/fourth.jsonl")
    assert (result["verdict"]["pairs"], result["verdict"]["precision"], result["verdict"]["recall"]) == (5, 1.0, 0.75)
    assert (result["labels"]["read"], result["labels"]["bad"]) == (8, 2)
    assert [(problem["file"], problem["line"]) for problem in result["labels"]["problems"]] == [
        ("fourth.jsonl", 1),
        ("fourth.jsonl", 2),
    ]
    assert result["labels"]["problems"][0]["reason"] == (
        "line 1 of first.jsonl labels the same pair as D; remove one of the two lines"
    )
    assert {name: file["verdict"]["recall"] for name, file in result["files"].items()} == {
        "first.jsonl": 1.0,
        "second.jsonl": 0.0,
    }
    assert [error["file"] for error in result["errors"]] == ["second.jsonl"]


def _check_numbers(result: dict) -> None:
    """A report has both metrics, the confusion and the calibration."""
    assert (result["versions_as_negatives"]["pairs"], result["versions_as_negatives"]["f1"]) == (6, 0.8571)
    assert result["confusion"]["D"]["duplicate"] == {"pairs": 1, "share": 0.75, "share_interval": [0.0, 1.0]}
    assert result["confusion"]["D"]["not_proposed"]["share"] == 0.25
    assert result["confusion"]["V"]["not_proposed"]["pairs"] == 1
    assert (result["version_verdict"]["recall"], result["version_verdict"]["versions"]) == (0.0, 1)
    assert (result["calibration"]["versions_left_out"]["pairs"], result["labels"]["proposed"]["D"]) == (3, 1)
    bins = result["calibration"]["versions_left_out"]["weighted"]["bins"]
    assert sum(bin_["weight"] for bin_ in bins) == 13  # one D, two T
    assert result["within_3_days"]["confusion"]["N"]["pairs"] == 0


@pytest.mark.slow
def test_corpora_are_measured_in_turn_and_judged_by_models_of_the_others(corpora) -> None:
    result = measured(*corpora["coast"], *corpora["valley"])
    _, articles, *labels = corpora["coast"]
    alone = measured(f"--articles={articles}", "--labels", *labels)
    _check_numbers(alone)
    for key in ("verdict", "passes", "confusion", "calibration", "files", "labels", "about"):
        assert result["corpora"]["coast"][key] == alone[key]
    assert {name: [model["model"] for model in models] for name, models in result["cross_corpus"].items()} == {
        name: ["in use", "all others", "all, with its own"] for name in ("coast", "valley")
    }
    in_use, of_coast, _ = result["cross_corpus"]["valley"]
    assert in_use["all"]["verdict"] == result["corpora"]["valley"]["verdict"]
    assert of_coast["fitted_on"] == ["coast"]
    assert (of_coast["all"]["verdict"]["pairs"], of_coast["all"]["verdict"]["f1"]) == (2, 1.0)
    assert of_coast["within_3_days"]["verdict"]["pairs"] == 1
    assert (Article.objects.count(), DetectionRun.objects.count(), schemas()) == (0, 0, [])


@pytest.mark.slow
def test_the_text_has_the_tables_within_120_columns(corpora) -> None:
    printed, said = evaluate(*corpora["coast"], *corpora["valley"], "--learning-curve")
    assert max(map(len, printed.splitlines())) <= 120
    assert re.search(r"│ valley │         0 │ 1\.000 ±0\.00 │ 1\.000 ±0\.00 │", printed)
    assert "coast: 6 labelled pairs: 2 D, 1 V, 2 T, 0 E, 1 N. 11 articles of coast.jsonl, " in printed
    assert re.search(r"│ coast  │ \(the model in use\) │     1\.000 │     0\.750 │     0\.857 │", printed)
    assert re.search(r"│ valley │ \(the model in use\) │     1\.000 │", printed)
    assert "valley, by the model in use, all labelled pairs:\n" in printed
    assert "11 articles read: 11 stored" in said
    assert "3 articles read: 3 stored" in said


@pytest.mark.slow
def test_corpora_of_one_file_of_articles_are_named_by_their_labels(corpora) -> None:
    option, articles, first, second = corpora["coast"]
    result = measured(option, articles, first, option, articles, second, "--no-cross-validate")
    assert list(result["corpora"]) == ["coast: first", "coast: second"]
    assert result["corpora"]["coast: first"]["cross_validated"] is None
    same = refused(option, articles, first, option, articles, first)
    assert same == (
        "two corpora have files of the same names (coast: first, coast: first); rename one, or leave one out."
    )


@pytest.mark.slow
def test_the_learning_curve_starts_from_a_model_of_the_others(corpora) -> None:
    result = measured(*corpora["coast"], *corpora["valley"], "--learning-curve")
    # So few pairs leave none to draw.
    assert {name: [point["decisions"] for point in points] for name, points in result["learning_curve"].items()} == {
        "coast": [0],
        "valley": [0],
    }
    [start] = result["learning_curve"]["valley"]
    _, of_coast, _ = result["cross_corpus"]["valley"]
    assert start["f1"]["mean"] == of_coast["all"]["verdict"]["f1"] == 1.0
    assert (start["draws"], start["worse"], start["f1_change"]["mean"]) == (1, 0, 0.0)


def test_bad_corpora_are_refused_before_any_work(corpora, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(apart, "scratch_schema", lambda *_args, **_options: pytest.fail("it has begun"))
    option, articles, first, _ = corpora["coast"]
    (tmp_path / "empty.jsonl").write_bytes(b'{"a": "n1"}\n')
    assert refused(option, articles) == (
        f"--corpus {articles} has no labels; name its files of labels after the file of articles."
    )
    assert refused(*corpora["valley"], option, articles, f"{tmp_path}/empty.jsonl") == (
        f"{tmp_path}/empty.jsonl has no labelled pair, for example line 1: label is None; "
        "it must be one of D, V, T, E, N."
    )
    assert refused(*corpora["coast"], f"--labels={first}") == (
        "--corpus names articles and labels itself; leave out --articles and --labels."
    )
    assert refused(option, articles, first, "--learning-curve") == (
        "--learning-curve needs another corpus to start from; give --corpus twice or more."
    )
    assert refused(f"--labels={first}", "--learning-curve") == (
        "--learning-curve is measured on several corpora; name them with --corpus."
    )
    assert refused() == (
        "nothing to measure with; name a file of labels with --labels, a validation sample with --sample, corpora "
        "with --corpus, or clusters with --clusters."
    )
    for names in ((f"{tmp_path}/none.jsonl", first), (articles, f"{tmp_path}/none.jsonl")):
        with pytest.raises(Exception, match=r"none\.jsonl cannot be opened: No such file or directory"):
            evaluate(*corpora["valley"], option, *names)


def test_labels_that_name_nothing_are_refused_before_the_run(corpora, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(apart, "run_detection", lambda *_args, **_options: pytest.fail("it has begun"))
    option, articles, _, _ = corpora["coast"]
    (tmp_path / "gone.jsonl").write_bytes(json_lines({"a": "x1", "b": "n1", "label": "D"}))
    assert refused(option, articles, f"{tmp_path}/gone.jsonl") == (
        f"{tmp_path}/gone.jsonl has no pair whose two articles are stored, for example line 1: no stored article has "
        "the id 'x1'; import it, or correct the label."
    )
    assert schemas() == []


# ---- fit_verdicts --corpus, which makes the shipped model -----------------------------------------------


@pytest.fixture
def both(corpora) -> list[str]:
    """Return the options that name both corpora."""
    return [*corpora["coast"], *corpora["valley"]]


def fit(*options: str) -> str:
    """Return what the command writes to stdout."""
    return called("fit_verdicts", "--no-progress", "--workers=1", *options)[0]


def not_fitted(*options: str) -> str:
    return commands.refused("fit_verdicts", "--no-progress", "--workers=1", *options)


@pytest.mark.slow
def test_a_model_is_fitted_on_all_corpora_and_the_same_every_time(both, tmp_path, monkeypatch) -> None:
    def unusable(_text: str) -> VerdictModel:
        raise ModelError("the model's features differ from this version's; fit it again")

    # As when the features have changed, and the model that ships has to be fitted again.
    monkeypatch.setattr(judging, "load_model", unusable)
    monkeypatch.setattr(judging, "default_model", lambda: unusable(""))
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    assert fit(*both, f"--output={first}") == (
        f"Fitted on 8 labelled pairs of 2 corpora: 3 D, 1 V, 2 T, 0 E, 2 N. Written to {first}.\n"
    )
    model = load_model(first.read_text(encoding="utf-8"))
    assert model.learnt_from == {"D": 3, "V": 1, "T": 2, "E": 0, "N": 2}
    assert model.version == "8 labelled pairs of 2 corpora"
    assert max(model.questions["duplicate"].coefficients) > 0
    assert json.loads(fit(*both, f"--output={second}", "--format=json")) == {
        "file": str(second),
        "learnt_from": {"D": 3, "V": 1, "T": 2, "E": 0, "N": 2},
    }
    assert first.read_bytes() == second.read_bytes()
    assert (Article.objects.count(), DetectionRun.objects.count(), FittedModel.objects.count()) == (0, 0, 0)
    assert schemas() == []


def test_options_that_do_not_go_together_are_not_fitted(both, tmp_path) -> None:
    output = f"--output={tmp_path}/model.json"
    together = "--corpus and --output go together: name the corpora to fit on, and the file to write to."
    assert not_fitted(*both) == not_fitted(output) == together
    assert not_fitted(*both, output, "--switch-on") == (
        "--corpus fits a model of its own; leave out --labels, --use, --list and --switch-on."
    )
    assert not_fitted(*both, f"--output={tmp_path}") == (
        f"--output {tmp_path} is a folder, or in no folder; name a file in a folder that exists."
    )
    assert not_fitted(*both[:2], output) == (
        f"--corpus {both[1]} has no labels; name its files of labels after the file of articles."
    )
    assert not Path(f"{tmp_path}/model.json").exists()


@pytest.mark.slow
def test_corpora_without_duplicates_fit_no_model(both, tmp_path) -> None:
    labels = tmp_path / "others.jsonl"
    labels.write_bytes(json_lines({"a": "n1", "b": "n3", "label": "N"}))
    message = not_fitted("--corpus", f"{tmp_path}/valley.jsonl", str(labels), f"--output={tmp_path}/model.json")
    assert message == "fitting needs at least one duplicate and one pair that is not; label more pairs."
    assert not Path(f"{tmp_path}/model.json").exists()
