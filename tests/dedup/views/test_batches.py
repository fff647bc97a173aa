"""Batches and learning, through their pages."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dedup.models import Batch, Pair
from tests.conftest import StoreArticle
from tests.factories import make_pair
from tests.pages import opened

pytestmark = pytest.mark.django_db


def test_a_batch_from_a_filter_with_its_sample_preview_decision_and_undo(
    store: StoreArticle, editor_client: Client
) -> None:
    pairs = [make_pair(store(), store(newspaper="Coast Telegraph"), trigram=0.9) for _ in range(23)]
    other = make_pair(store(), store(newspaper="Inland Gazette"), trigram=0.9)
    coast = pairs[0].right.newspaper
    query = f"?tab=informative&newspaper={coast.pk}"
    assert (
        f"{reverse('batch_new')}{query}".replace("&", "&amp;")
        in editor_client.get(reverse("queue") + query).content.decode()
    )
    new = reverse("batch_new") + query
    offered = editor_client.get(new).content.decode()
    assert "<strong>23</strong> pairs" in offered
    assert "at most 13.9% of all are" in offered
    assert "you answer every question yourself" in offered
    assert 'value="149"' not in offered, "A sample is never larger than the list"
    assert editor_client.post(new, {"kind": "version", "sample": "20"}).status_code == 400
    begun = editor_client.post(new, {"kind": "confirm", "sample": "20"})
    batch = Batch.objects.get()
    assert begun["Location"] == reverse("batch", args=[batch.pk])
    page = editor_client.get(begun["Location"]).content.decode()
    assert "Answer the sample: question 1 of 20" in page
    assert "What the decision changes" not in page

    asked = editor_client.get(f"{reverse('queue_next')}?tab=sample")["Location"]
    for _ in range(20):
        path, _, asked_query = asked.partition("?")
        answer = editor_client.post(f"{path}decide/?{asked_query}", {"kind": "confirm", "seen": "0"})
        asked = answer["Location"]
    assert editor_client.get(asked)["Location"] == begun["Location"]
    with CaptureQueriesContext(connection) as queries:
        page = editor_client.get(begun["Location"]).content.decode()
    assert len(queries) <= 13
    for shown in (
        "20 are answered, all of them",
        "13.9%",
        "<strong>3</strong> pairs get the answer",
        "Confirm these 3",
    ):
        assert shown in page
    said = editor_client.post(reverse("batch_decide", args=[batch.pk]), {"note": "one agency"}, follow=True)
    assert "one agency" in said.content.decode()
    assert Pair.objects.filter(state="confirmed").count() == 23
    assert Pair.objects.get(pk=other.pk).state == "undecided"
    history = opened(editor_client, "history")
    assert f"batch {batch.pk}" in history
    batch.refresh_from_db()
    editor_client.post(reverse("undo", args=[batch.decision_id]), {"next": begun["Location"]})
    assert "mara took it back" in editor_client.get(begun["Location"]).content.decode()
    assert Pair.objects.filter(state="confirmed").count() == 20
    assert "undone" in opened(editor_client, "batches")
