"""An archive of made-up news in which all that a run rests on has happened before."""

from __future__ import annotations

import datetime
import io
from collections.abc import Sequence
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management import call_command

from articles.storage.ingest import store_articles
from dedup.models import Cluster, Pair, Profile, Series
from dedup.review.answers import decisions
from dedup.review.rules.rules import make_rule
from tests.dedup.runs.made_up_news import DAYS, FIRST_DAY, made_up_news

# So few similar articles make a dense group that the made-up news have some.
SETTINGS: dict[str, dict[str, Any]] = {
    "sentence": {"weighted": True},
    "trigram": {"dense_from": 3, "retired": True},
    "stopword": {"dense_from": 4},
}


def store_archive(seed: int, *, days: int = DAYS) -> None:
    """Store news of the first days with an earlier run, decisions and a rule; some articles came after it."""
    Profile.objects.filter(is_default=True).update(settings=SETTINGS)
    last = FIRST_DAY + datetime.timedelta(days=days - 1)
    articles = [article for article in made_up_news(seed) if article.date <= last]
    late = set(range(5, len(articles), 9))
    _store([article for place, article in enumerate(articles) if place not in late])
    call_command("find_duplicates", "--threshold=trigram=0.4", "--no-progress", stdout=io.StringIO())
    _decide()
    _store([articles[place] for place in sorted(late)])


def _store(articles: Sequence[Any]) -> None:
    for start in range(0, len(articles), 100):
        assert {article.outcome for article in store_articles(articles[start : start + 100])} == {"created"}


def _decide() -> None:
    editor = get_user_model().objects.create_user("mara")
    pairs = list(Pair.objects.proposed().order_by("left", "right"))
    for pair in pairs[::23]:
        decisions.decide_pair(pair.pk, "confirm", user=editor)
    for pair in pairs[7::23]:
        decisions.decide_pair(pair.pk, "reject", user=editor)
    largest = Cluster.objects.order_by("-size", "pk")[0]
    decisions.take_out(largest.pk, largest.memberships.order_by("article").last().article_id, user=editor)
    make_rule(Series.objects.order_by("-articles", "pk")[0].pk, user=editor)
