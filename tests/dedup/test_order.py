"""The article that was published first is on the left, wherever a pair is shown."""

import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from articles.models import in_order
from dedup.answers import Answer
from dedup.api.shapes import pair_full
from dedup.models import Pair
from dedup.review.answers import decisions
from tests.commands import called
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_pair, make_user
from tests.pages import opened


@pytest.mark.parametrize(
    ("days", "times", "earlier"),
    [
        ((2, 3), ("", ""), 0),
        ((3, 2), ("", ""), 1),
        ((3, 2), ("2026-03-03T07:10Z", "2026-03-02T23:10Z"), 1),
        ((2, 2), ("2026-03-02T18:30Z", "2026-03-02T07:10Z"), 1),
        ((2, 2), ("2026-03-02T18:30Z", "2026-03-02T18:30Z"), 0),
        ((2, 2), ("2026-03-02T18:30Z", ""), 0),
        ((2, 2), ("2026-03-02T18:30Z", "2026-03-02T07:10"), 0),
    ],
)
@pytest.mark.django_db
def test_day_and_time_decide_and_else_what_was_stored_first(
    store: StoreArticle, days: tuple[int, int], times: tuple[str, str], earlier: int
) -> None:
    two = [store(date=f"2026-03-0{day}", time=time) for day, time in zip(days, times, strict=True)]

    assert in_order(*two)[0] == in_order(*reversed(two))[0] == two[earlier]
    assert make_pair(*two).earlier == two[earlier]


@pytest.mark.django_db
def test_pages_files_and_the_api_have_the_earlier_article_first(editor_client: Client, store: StoreArticle) -> None:
    later = store("The pier closes on Tuesday.", headline="Late news", date="2026-03-03")
    earlier = store("The pier closes on Monday.", headline="Early news", date="2026-03-02")
    pair = make_pair(later, earlier, trigram=0.9)
    Pair.objects.update(left_matched=0.25, right_matched=0.75, joins=False, duplicate_probability=0.5)
    make_cluster(earlier, store())
    compare = f"{reverse('compare')}?left={later.pk}&right={earlier.pk}"
    for address in (reverse("pair", args=[pair.pk]), reverse("pair_why", args=[pair.pk]), reverse("queue"), compare):
        page = re.sub(r"<[^>]*>", "", editor_client.get(address).content.decode())
        assert 0 < page.index("Early news") < page.index("Late news"), address
        if "why" not in address and "queue" not in address:
            assert "The first article is in cluster" in page
    assert "<del>Monday</del>" in opened(editor_client, "pair", pair.pk)

    shown = pair_full(Pair.objects.get(pk=pair.pk))
    assert (shown["left"]["id"], shown["left_matched"], shown["right_matched"]) == (earlier.pk, 0.75, 0.25)
    decisions.decide_pair(pair.pk, Answer.CONFIRM, user=make_user("anna", "editor"), seen=0)
    for export in ("pairs", "decisions"):
        row = next(row for row in map(json.loads, called("export", export)[0].splitlines()) if row["pair"] == pair.pk)
        assert (row["left_article"], row["right_article"]) == (earlier.pk, later.pk)


def test_no_page_shows_a_pair_in_the_order_of_ids() -> None:
    templates = Path(settings.BASE_DIR, "templates").rglob("*.html")
    by_ids = re.compile(r"pair\.(left|right)\.(?!pk)")
    assert [template.name for template in templates if by_ids.search(template.read_text())] == []
