"""An export holds what passes and verdicts rest on, and says when any of it has changed."""

import datetime
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.dataset
import pytest
from django.core.management import CommandError
from django.db import connection

from articles.models import Article, ArticleURL, Newspaper
from dedup.detection.kernels.tokens import trigram_sets
from dedup.detection.passes.trigram import TrigramPass
from dedup.detection.runs.profiles import rules_of
from dedup.detection.spark.manifest import Manifest
from dedup.detection.spark.schema import ARTICLES, KEYS, Bundle, alphabet_of, of_pass
from dedup.detection.verdicts.model import default_model, dump_model
from dedup.models import FittedModel, Profile, ProfileRule
from tests.conftest import StoreArticle
from tests.dedup.runs.running import command
from tests.factories import make_collection, make_series, make_user

pytestmark = pytest.mark.django_db


def export(folder: Path, *options: str) -> Manifest:
    command("export_detection", str(folder), *options)
    return Manifest.read(folder / "manifest.json")


def rows_of(folder: Path, by: str = "id") -> list[dict[str, Any]]:
    return pyarrow.dataset.dataset(folder, format="parquet").to_table().sort_by(by).to_pylist()


def test_an_export_has_everything_that_is_compared(store: StoreArticle, tmp_path: Path) -> None:
    editor = make_user("Edda", "editor")
    first = store("The ferry was late. The crowd waited.", time="2026-03-02T08:30:00+02:00", headline="Late Ferry")
    second = store(
        "A copy of the text, which is long enough to be compared.", newspaper="Inland Courier", date="2026-03-03"
    )
    later = store("Long after the scope.", date="2026-05-01")
    store("Much later.", date="2026-08-01")
    ArticleURL.objects.create(
        article=first,
        url="x",
        key="11111111-1111-4111-8111-111111111111",
        normalized_url="https://paper.example",
        kind="page",
    )
    series = make_series(first.newspaper, "late ferry", first)
    series.ruled_by, series.ruled_at = editor, datetime.datetime.now(datetime.UTC)
    series.save()
    model = dump_model(default_model())
    FittedModel.objects.create(content=model, decisions=1, in_use=True)
    profile, coast = Profile.objects.get(is_default=True), make_collection("owner", "Coast", first.newspaper)
    ProfileRule.objects.create(profile=profile, newspaper=first.newspaper, settings={"trigram": {"threshold": 0.8}})
    ProfileRule.objects.create(profile=profile, newspaper=first.newspaper, collection=coast, left_out=True)

    manifest = export(
        tmp_path / "out", "--until", "2026-03-31", "--passes", "trigram,url", "--threshold", "trigram=0.7"
    )

    assert manifest.days == [["2026-03-02", 1], ["2026-03-03", 1], ["2026-05-01", 1]]
    assert (str(manifest.first_day), str(manifest.last_day)) == ("2026-03-02", "2026-03-31")
    assert [name for name, config in manifest.configs().items() if config.enabled] == ["url", "trigram"]
    assert manifest.config["trigram"]["threshold"] == 0.7
    assert manifest.model == model
    assert [rule["sides"] for rule in manifest.rules] == [[[first.newspaper_id]], [[first.newspaper_id]] * 2]
    assert manifest.bounds() == rules_of(profile)
    bundle = Bundle(tmp_path / "out")
    rows = rows_of(bundle.articles)
    assert [row["id"] for row in rows] == [first.pk, second.pk, later.pk]
    for row in rows:
        article = Article.objects.get(pk=row["id"])
        assert list(row) == ARTICLES.names
        for name in ("revision", "published_at", "published_offset", "published_precision", "headline", "content",
                     "normalized_text"):  # fmt: skip
            assert row[name] == getattr(article, name), name
        assert (row["newspaper"], row["day"]) == (article.newspaper_id, article.date)
        assert (row["boilerplate"], row["reduced_text"]) == ("[]", None)
    expected: dict[str, Callable[[Article], tuple[int, str, str | None]]] = {
        "url": lambda article: (
            article.newspaper_id,
            article.urls.exclude(url="x").values_list("normalized_url", flat=True).get(),
            None,
        ),
        "title": lambda article: (article.newspaper_id, article.normalized_title, article.headline),
        "exact": lambda article: (0, str(article.text_digest), article.normalized_title),
    }
    assert {folder.name for folder in bundle.keys.iterdir()} == {
        f"pass_name={name}" for name in (*expected, "numbers", "post")
    }
    for name, key_of in expected.items():
        keys = {row["article"]: row for row in rows_of(of_pass(bundle.keys, name), "article")}
        assert second.pk in keys
        assert list(keys[second.pk]) == KEYS.names
        for article in Article.objects.filter(pk__in=keys):
            row = keys[article.pk]
            assert (row["newspaper"], row["day"]) == (article.newspaper_id, article.date)
            assert (row["place"], row["key"], row["note"]) == key_of(article)
        assert keys.keys() <= {first.pk, second.pk, later.pk}
    assert bundle.read("series_rules").to_pylist() == [{"newspaper": first.newspaper_id, "form": "late ferry"}]
    assert [row["affixes"] for row in bundle.read("newspapers").to_pylist()] == [["Harbour Post"], ["Inland Courier"]]


def test_the_alphabet_is_that_of_the_database(store: StoreArticle, tmp_path: Path) -> None:
    store("One text.")
    export(tmp_path)
    dice = Random(20260302)
    texts = [
        "".join(chr(dice.choice((dice.randrange(32, 0x250), dice.randrange(0x600, 0xD7FF)))) for _ in range(400))
        for _ in range(20)
    ]
    whole, asked = alphabet_of(Bundle(tmp_path).read("alphabet")), TrigramPass().alphabet(texts, connection)
    ours, theirs = trigram_sets(texts, whole), trigram_sets(texts, asked)
    assert ours.values.tolist() == theirs.values.tolist()
    assert ours.offsets.tolist() == theirs.offsets.tolist()


@pytest.mark.slow
def test_an_export_is_the_same_until_something_changes(store: StoreArticle, tmp_path: Path) -> None:
    article = store("One text.")
    store("Another text.")
    first = export(tmp_path)
    (tmp_path / "stages").mkdir()
    (tmp_path / "results").mkdir()
    assert export(tmp_path).fingerprint() == first.fingerprint()
    article.content = "One text, changed."
    article.save()
    changed = export(tmp_path)
    assert changed.months["2026-03"][0] == first.months["2026-03"][0] == 2
    assert changed.months != first.months
    Newspaper.objects.update(title_affixes=["Live"])
    assert export(tmp_path).tables["newspapers"] != changed.tables["newspapers"]
    assert export(tmp_path, "--boilerplate", "story").fingerprint() != export(tmp_path).fingerprint()

    (tmp_path / "diary.txt").write_text("mine")
    with pytest.raises(CommandError, match=r"holds diary\.txt, which is not of an export"):
        export(tmp_path)
    assert json.loads((tmp_path / "manifest.json").read_text())["articles"] == 2
