"""Shingles and sentences: written once per article, read instead of the texts, and the same as if made of them."""

import dataclasses
import datetime
import random

import numpy as np
import pytest
from django.db import connection

from articles.boilerplate.mode import Mode
from articles.models import Article
from articles.storage.boilerplate_marks import mark_weeks, outdated_weeks
from articles.storage.incoming import IncomingArticle
from articles.storage.ingest import store_articles
from dedup.detection.kernels.masked_shingles import masked_shingle_sets
from dedup.detection.passes import PASSES, containment, reading, sentence, trigram
from dedup.detection.runs import scope, text_indexes
from dedup.detection.runs.blocks import find_with
from dedup.detection.runs.phases import Progress
from dedup.detection.runs.scope import Scope, blocks_for, blocks_of
from dedup.detection.runs.text_indexes import (
    SENTENCE_INDEX,
    SHINGLE_INDEX,
    outdated_parts,
    update_index,
    update_shingles,
)
from dedup.detection.types import Phase, Tally, Window
from dedup.models import ArticleSentences, ArticleShingles
from tests.dedup.passes.test_contract import BOILERPLATE, STORIES
from tests.dedup.runs.running import command

pytestmark = pytest.mark.django_db

MARCH = Window(datetime.date(2026, 3, 1), datetime.date(2026, 3, 31))


def read(window: Window = MARCH, **options) -> dict[int, list[int]]:
    found = reading.read_shingles(window, connection, Tally(), **{"first_day": datetime.date.min, **options})
    sets = np.split(found.sets.values, found.sets.offsets[1:-1]) if len(found.ids) else []
    return {pk: members.tolist() for pk, members in zip(found.ids.tolist(), sets, strict=True)}


def made_of(text: str) -> list[int]:
    return masked_shingle_sets([text]).values.tolist()


def outdated() -> int:
    return sum(part.articles for part in outdated_parts(SHINGLE_INDEX))


def stored() -> dict[int, list[int]]:
    rows = ArticleShingles.objects.values_list("article", "shingles")
    return {pk: np.frombuffer(row, dtype="<u4").tolist() for pk, row in rows}


class Steps(Progress):
    """A progress that notes the steps: their name, how much is ahead or done, and the pairs found."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int, int]] = []

    def start(self, step: str, total: int) -> None:
        self.seen.append((step, total, 0))

    def advance(self, step: str, amount: int, pairs: int) -> None:
        self.seen.append((step, amount, pairs))


@pytest.mark.parametrize("batch", [2, 2_000])
def test_each_article_has_the_shingles_of_its_text(store, batch, monkeypatch) -> None:
    monkeypatch.setattr(text_indexes, "_WRITTEN_AT_ONCE", batch)
    articles = [store(text, date="2026-03-05") for text in (*STORIES, "Fire", "…")]
    assert outdated() == 5

    steps = Steps()
    update_shingles(steps)

    assert [done for _, done, _ in steps.seen] == ([5, 2, 2, 1] if batch == 2 else [5, 5])
    assert outdated() == 0
    assert stored() == {article.pk: made_of(article.normalized_text) for article in articles}
    row = ArticleShingles.objects.select_related("article").earliest("pk")
    assert (row.newspaper, row.date, row.revision) == (row.article.newspaper, row.article.date, row.article.revision)


def test_only_articles_that_are_new_or_have_changed_are_written(store) -> None:
    changed, same = store(STORIES[0]), store(STORIES[1])
    update_shingles()
    changed.normalized_text = "another text with five words"
    changed.date = datetime.date(2026, 3, 9)
    changed.save()
    added = store(STORIES[2])

    steps = Steps()
    update_shingles(steps)

    assert steps.seen == [(Phase.SHINGLES, 2, 0), (Phase.SHINGLES, 2, 0)]
    assert stored()[changed.pk] == made_of("another text with five words")
    assert ArticleShingles.objects.get(pk=changed.pk).date == datetime.date(2026, 3, 9)
    assert stored().keys() == {changed.pk, same.pk, added.pk}
    update_shingles(steps)
    assert len(steps.seen) == 2  # without anything to do, no step is shown


def test_batches_written_before_an_error_stay_and_the_rest_follows(store, monkeypatch) -> None:
    monkeypatch.setattr(text_indexes, "_WRITTEN_AT_ONCE", 2)
    for text in (*STORIES, "Fire"):
        store(text)

    class Stop(Progress):
        def advance(self, *_rest: object) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        update_shingles(Stop())
    assert (len(stored()), outdated()) == (2, 2)

    update_shingles()
    assert (len(stored()), outdated()) == (4, 0)


@pytest.mark.parametrize("page", [1, 2_000])
def test_what_is_read_is_the_same_with_and_without_the_index(store, page, monkeypatch) -> None:
    monkeypatch.setattr(reading, "_PACKED_BATCH", page)
    for text in (*STORIES, "", "Fire"):
        store(text)
    without = read()
    assert not ArticleShingles.objects.exists()
    update_shingles()
    changed = Article.objects.earliest("pk")
    Article.objects.filter(pk=changed.pk).update(normalized_text="one two three four five")

    assert read() == without | {changed.pk: made_of("one two three four five")}
    # Up-to-date rows are read instead of texts.
    ArticleShingles.objects.update(shingles=np.array([3, 4], dtype="<u4").tobytes())
    assert read() == {article: [3, 4] for article in without} | {changed.pk: made_of("one two three four five")}


def test_articles_are_read_by_day_and_newspaper(store) -> None:
    late, early, other = (
        store(STORIES[0], date=day, newspaper=paper)
        for day, paper in (("2026-03-09", "Harbour Post"), ("2026-03-02", "Harbour Post"), ("2026-03-02", "Courier"))
    )
    update_shingles()
    seen: list[int] = []
    found = reading.read_shingles(MARCH, connection, Tally(on_read=seen.append), first_day=datetime.date.min)
    assert found.ids.tolist() == [early.pk, other.pk, late.pk]
    assert found.days.tolist() == [article.date.toordinal() for article in (early, other, late)]
    assert found.newspapers.tolist() == [article.newspaper_id for article in (early, other, late)]
    assert seen == [3]

    assert list(read(first_day=datetime.date(2026, 3, 9))) == [late.pk]
    assert list(read(Window(datetime.date(2026, 3, 1), datetime.date(2026, 3, 8)))) == [early.pk, other.pk]
    assert list(read(Window(MARCH.first_day, MARCH.last_day, (other.newspaper_id,)))) == [other.pk]
    assert read(Window(MARCH.first_day, MARCH.last_day, ())) == {}


@pytest.mark.parametrize("mode", list(Mode))
def test_with_boilerplate_left_out_the_text_that_is_compared_counts(store, mode) -> None:
    articles = [store(f"{story}\n\n{BOILERPLATE}") for story in STORIES]
    store(STORIES[0], newspaper="Courier")
    list(mark_weeks(outdated_weeks()))
    update_shingles()
    window = Window(MARCH.first_day, MARCH.last_day, boilerplate=mode)

    column = {Mode.KEEP: "normalized_text", Mode.STORY: "story_text", Mode.TOPIC: "topic_text"}[mode]
    rows = Article.objects.values_list("pk", column, "normalized_text")
    found = read(window)
    assert found == {pk: made_of(text if shorter is None else shorter) for pk, shorter, text in rows}
    assert (found[articles[-1].pk] == read()[articles[-1].pk]) == (mode is Mode.KEEP)


@pytest.mark.parametrize(
    ("options", "rows"),
    [((), 2), (("--no-verdicts",), 2), (("--no-verdicts", "--passes=exact"), 0), (("--dry-run",), 0)],
)
def test_a_run_that_needs_the_index_brings_it_up_to_date(store, options, rows) -> None:
    for text in STORIES[:2]:
        store(text)
    command("find_duplicates", *options)
    assert ArticleShingles.objects.count() == rows


# ---- sentences, and blocks of days with what all of them need ----

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
    assert (update_index(SENTENCE_INDEX), outdated_parts(SENTENCE_INDEX)) == (60, [])
    ArticleSentences.objects.filter(article=Article.objects.latest("pk")).delete()
    config = sentence.SentenceConfig(weighted=weighted, most_articles=9, threshold=0.1, day_window=5)
    kept = sorted(find_with("sentence", config, Scope(), Tally()))
    ArticleSentences.objects.all().delete()
    assert kept == sorted(find_with("sentence", config, Scope(), Tally()))
