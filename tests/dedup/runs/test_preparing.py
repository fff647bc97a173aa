"""Blocks of days with what all of them need give what one block gives, with and without stored sentences."""

import dataclasses
import datetime
import random

import pytest
from django.db import connection

from articles.models import Article
from articles.storage.incoming import IncomingArticle
from articles.storage.ingest import store_articles
from dedup.detection.passes import PASSES, containment, sentence, trigram
from dedup.detection.runs import scope
from dedup.detection.runs.dry_run import find_with
from dedup.detection.runs.scope import Scope, blocks_for, blocks_of
from dedup.detection.runs.text_indexes import SENTENCE_INDEX, outdated_parts, update_index
from dedup.detection.types import Tally, Window
from dedup.models import ArticleSentences, UpToDate

pytestmark = pytest.mark.django_db

NAMES = ("trigram", "sentence", "containment")
NOTICE = "Write to the desk of the Harbour Post about anything that you know."


@pytest.fixture
def articles() -> None:
    dice = random.Random(14)
    told = [f"The {noun} of Port Selby was {verb} on day {number}, said Anna Holm of the council."
            for number, noun in enumerate(("ferry", "library", "tram", "bridge", "market", "school"))
            for verb in ("opened", "closed", "painted", "sold", "moved")]  # fmt: skip
    store_articles(
        [
            IncomingArticle(
                date=datetime.date(2026, 3, 1) + datetime.timedelta(days=dice.randrange(24)),
                headline="",
                url=f"https://paper.example/{number}",
                content=" ".join([*dice.sample(told, 4), *([NOTICE] if dice.random() < 0.4 else [])]),
            )
            for number in range(60)
        ]
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_give_together_what_one_block_gives(articles, weighted, monkeypatch) -> None:
    monkeypatch.setattr(scope, "BLOCK_ARTICLES", 4)
    monkeypatch.setattr(scope, "JOINED_ARTICLES", 8)
    monkeypatch.setattr(containment, "_ARTICLES_PER_PART", 25)
    monkeypatch.setattr(sentence, "_ARTICLES_PER_PART", 25)
    monkeypatch.setattr(trigram, "_MANY_BLOCKS", 2)
    changes: dict[str, object] = {"weighted": weighted, "most_articles": 9, "minimum_shared": 2, "day_window": 6}
    for name in NAMES:
        changes["most_articles"] = 40 if name == "containment" else 9  # so that some of it is common
        kind = PASSES[name].config_class
        known = {field.name for field in dataclasses.fields(kind)}
        config = kind(
            threshold=0.3 if name == "trigram" else 0.05, **{key: changes[key] for key in known & changes.keys()}
        )
        days = Article.objects.order_by("date").values_list("date", flat=True)
        whole = sorted(PASSES[name].find(Window(days[0], days[59]), config, connection))
        assert len(blocks_for(name, config, blocks_of(Scope()), Scope())) > 2
        by_blocks = sorted(find_with(name, config, Scope(), Tally()))
        assert [(block, block.evidence) for block in by_blocks] == [(pair, pair.evidence) for pair in whole]
        assert whole, name
    update_index(SENTENCE_INDEX)
    ArticleSentences.objects.filter(article=Article.objects.latest("pk")).delete()
    config = sentence.SentenceConfig(weighted=weighted, most_articles=9, threshold=0.1, day_window=5)
    kept = sorted(find_with("sentence", config, Scope(), Tally()))
    ArticleSentences.objects.all().delete()
    assert kept == sorted(find_with("sentence", config, Scope(), Tally()))


def test_only_what_is_new_or_has_changed_is_divided_into_sentences(articles) -> None:
    assert sum(part.articles for part in outdated_parts(SENTENCE_INDEX)) == 60
    assert update_index(SENTENCE_INDEX) == 60
    assert (outdated_parts(SENTENCE_INDEX), UpToDate.objects.get().name) == ([], "sentences")
    changed = Article.objects.earliest("pk")
    changed.content = "One sentence. Another sentence."
    changed.save()
    assert update_index(SENTENCE_INDEX) == 1
    row = ArticleSentences.objects.get(article=changed)
    assert (len(row.hashes), len(row.marks), row.revision) == (16, 4, Article.objects.get(pk=changed.pk).revision)
