"""The shingle index: written once per article, read instead of the texts, and the same as if made of them."""

import datetime
import io

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection

from articles.boilerplate.mode import Mode
from articles.models import Article
from articles.storage.boilerplate_marks import mark_weeks
from articles.storage.boilerplate_weeks import outdated_weeks
from dedup.detection.kernels.masked_shingles import masked_shingle_sets
from dedup.detection.passes import reading
from dedup.detection.runs import text_indexes
from dedup.detection.runs.phases import Progress
from dedup.detection.runs.pipeline import run_detection
from dedup.detection.runs.profiles import configs_of
from dedup.detection.runs.scope import Scope
from dedup.detection.runs.starting import start_run
from dedup.detection.runs.text_indexes import outdated_shingles, update_shingles
from dedup.detection.types import SHINGLES, Tally, Window
from dedup.models import ArticleShingles
from tests.dedup.passes.test_contract import BOILERPLATE, STORIES

pytestmark = pytest.mark.django_db

MARCH = Window(datetime.date(2026, 3, 1), datetime.date(2026, 3, 31))


def read(window: Window = MARCH, **options) -> dict[int, list[int]]:
    found = reading.read_shingles(window, connection, **options)
    sets = np.split(found.sets.values, found.sets.offsets[1:-1]) if len(found.ids) else []
    return {pk: members.tolist() for pk, members in zip(found.ids.tolist(), sets, strict=True)}


def made_of(text: str) -> list[int]:
    return masked_shingle_sets([text]).values.tolist()


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
    assert outdated_shingles() == 5

    steps = Steps()
    update_shingles(steps)

    assert [done for _, done, _ in steps.seen] == ([5, 2, 2, 1] if batch == 2 else [5, 5])
    assert outdated_shingles() == 0
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

    assert steps.seen == [(SHINGLES, 2, 0), (SHINGLES, 2, 0)]
    assert stored()[changed.pk] == made_of("another text with five words")
    assert ArticleShingles.objects.get(pk=changed.pk).date == datetime.date(2026, 3, 9)
    assert stored().keys() == {changed.pk, same.pk, added.pk}


def test_batches_written_before_an_error_stay_and_the_rest_follows(store, monkeypatch) -> None:
    monkeypatch.setattr(text_indexes, "_WRITTEN_AT_ONCE", 2)
    for text in (*STORIES, "Fire"):
        store(text)

    class Stop(Progress):
        def advance(self, *_rest: object) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        update_shingles(Stop())
    assert (len(stored()), outdated_shingles()) == (2, 2)

    update_shingles()
    assert (len(stored()), outdated_shingles()) == (4, 0)


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


def test_up_to_date_rows_are_read_instead_of_texts(store) -> None:
    article = store(STORIES[0])
    update_shingles()
    ArticleShingles.objects.update(shingles=np.array([3, 4], dtype="<u4").tobytes())
    assert read() == {article.pk: [3, 4]}


def test_articles_are_read_by_day_and_newspaper(store) -> None:
    late, early, other = (
        store(STORIES[0], date=day, newspaper=paper)
        for day, paper in (("2026-03-09", "Harbour Post"), ("2026-03-02", "Harbour Post"), ("2026-03-02", "Courier"))
    )
    update_shingles()
    seen: list[int] = []
    found = reading.read_shingles(MARCH, connection, Tally(on_read=seen.append))
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
    call_command("find_duplicates", *options, "--no-progress", stdout=io.StringIO(), stderr=io.StringIO())
    assert ArticleShingles.objects.count() == rows


def test_the_step_is_shown_if_there_is_anything_to_do(store) -> None:
    for text in STORIES:
        store(text)
    shown = []
    for _ in range(2):
        steps, configs, scope = Steps(), configs_of({}), Scope()
        run = start_run(configs, scope)
        run_detection(run, configs, scope, progress=steps)
        shown.append([step for step in steps.seen if step[0] == SHINGLES])
    assert shown == [[(SHINGLES, 3, 0), (SHINGLES, 3, 0)], []]
