"""The containment pass of new articles ends, to the last bit, where a pass over all articles ends."""

import datetime
import random
from typing import Any

import pytest

from articles.models import Article
from articles.storage.incoming import IncomingArticle
from articles.storage.ingest import store_articles
from dedup.detection.passes.containment import ContainmentConfig
from dedup.detection.runs import blocks, growth, pipeline, scope
from dedup.detection.runs.blocks import find_with
from dedup.detection.runs.evidence import write_block
from dedup.detection.runs.scope import Scope
from dedup.detection.types import Tally
from dedup.models import Evidence, Profile
from tests.dedup.runs.running import find_duplicates

pytestmark = pytest.mark.django_db

SETTINGS = {"most_articles": 3, "minimum_shared": 2, "day_window": 4, "threshold": 0.4}
CONFIG = ContainmentConfig(enabled=True, **SETTINGS)
NEW = ("--new", "--passes=containment", "--no-verdicts")
ALL = NEW[1:]
# Sentences of seven words, four shingles each.
SENTENCES = [" ".join(f"{'abcdefghijklmnop'[number]}{'abcdefg'[word]}" for word in range(7)) for number in range(16)]


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch) -> None:
    Profile.objects.update(settings={"containment": SETTINGS})
    monkeypatch.setattr(growth, "MOST_FRESH", 2.0)


@pytest.fixture
def grown(monkeypatch) -> list[growth.Growth | None]:
    """Return a list in which each run notes what it has found to be changed since a run of all."""
    noted: list[growth.Growth | None] = []
    monkeypatch.setattr(blocks, "growth_of", lambda *told: noted.append(growth.growth_of(*told)) or noted[-1])
    return noted


def invented(dice: random.Random, number: int) -> IncomingArticle:
    """Return an article of a few sentences, which others have too."""
    sentences = dice.sample(SENTENCES, dice.randrange(1, 5))
    return IncomingArticle(
        date=datetime.date(2026, 3, 1) + datetime.timedelta(days=dice.randrange(12)),
        headline=f"Number {number}",
        url=f"https://paper-{number % 2}.example/{number}",
        newspaper=f"Paper {number % 2}",
        content=f"{' '.join(sentences)} own{number} words{number} end{number}",
    )


def stored() -> dict[tuple[int, int], tuple[float, dict[str, int]]]:
    rows = Evidence.objects.filter(stale=False).values_list("pair__left", "pair__right", "score", "details")
    return {(left, right): (score, details) for left, right, score, details in rows}


def of_all() -> dict[tuple[int, int], tuple[float, dict[str, int]]]:
    """Return what a pass over all articles finds now."""
    found = find_with("containment", CONFIG, Scope(), Tally())
    return {(pair.left, pair.right): (pair.score, pair.evidence) for pair in found}


def interrupted(dice: random.Random) -> None:
    """End a run of new articles after some of its blocks, or before it marks what is stale."""
    left = iter(range(dice.choice([0, 1, 2, 99])))

    def some(*told: Any) -> Any:
        next(left)  # raises StopIteration at the end
        return write_block(*told)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(blocks, "write_block", some)
        patched.setattr(pipeline, "mark_stale", lambda *_: next(iter(())))
        with pytest.raises((StopIteration, RuntimeError)):
            find_duplicates(*dice.choice([NEW, ALL]))


def add(dice: random.Random) -> None:
    store_articles([invented(dice, dice.randrange(100, 10**6)) for _ in range(dice.randrange(1, 4))])


def change(dice: random.Random) -> None:
    text = invented(dice, 1).content
    one = dice.choice(list(Article.objects.order_by("pk")))
    Article.objects.filter(pk=one.pk).update(content=text, normalized_text=text)


def remove(dice: random.Random) -> None:
    if alone := list(Article.objects.filter(pairs_as_left=None, pairs_as_right=None).order_by("pk")):
        dice.choice(alone).delete()


def otherwise(dice: random.Random) -> None:
    """Make a run of a part, or with other settings, or of all."""
    options = ("--newspaper=Paper 1", "--until=2026-03-07", "--since=2026-03-05", "--threshold=0.8", "--verbosity=1")
    find_duplicates(*ALL, dice.choice(options))


STEPS = [add] * 6 + [change, change, remove, interrupted, interrupted, otherwise]


@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(3, 20))])
def test_runs_of_new_articles_end_where_a_run_of_all_ends(seed, grown, monkeypatch) -> None:
    print(f"seed {seed}")
    dice = random.Random(seed)
    monkeypatch.setattr(scope, "BLOCK_ARTICLES", 8)
    monkeypatch.setattr(scope, "JOINED_ARTICLES", 12)
    store_articles([invented(dice, number) for number in range(30)])
    find_duplicates(*ALL)
    for _ in range(25):
        for step in dice.sample(STEPS, dice.randrange(1, 4)):
            step(dice)
        find_duplicates(*NEW)
        assert stored() == of_all()
    built = [one for one in grown if one]
    assert len(built) > 8
    assert any(len(one.pairs) for one in built)
    assert len(set(map(len, (one.touched for one in built)))) > 2
