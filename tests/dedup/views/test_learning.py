"""Learning on the pages: queued once, shown before and after, switched on and off."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django_tasks_db.models import DBTaskResult

from dedup.evaluation.tasks import learn_task
from dedup.models import FittedModel, HeadlineForm, Lesson
from dedup.review import decisions
from tests.conftest import StoreArticle
from tests.factories import make_pair, make_user

pytestmark = pytest.mark.django_db

NOTE = (
    "The council of {place} has voted to repair the old tramway and to sell what is left of the depot near the river. "
    "Work on the first mile of track is to begin before the end of the summer if the county pays for half of it. "
)
PLACES = ("Carrack", "Inverlea", "Dunmore", "Ashgrove", "Lowmoor", "Marrow", "Nethby", "Orrin", "Quarley", "Upwick")


@pytest.fixture
def admin_client() -> Client:
    client = Client()
    client.force_login(make_user("ada", "admin"))
    return client


def test_a_lesson_is_queued_once_shown_and_switched_on_and_off(
    store: StoreArticle, admin_client: Client, editor_client: Client, visitor: Client
) -> None:
    learning = reverse("learning")
    assert "10 more answers until the model can learn" in admin_client.get(learning).content.decode()
    admin_client.post(reverse("learn"))
    assert learn_task.call(lesson_id=Lesson.objects.get().pk) is None
    assert "at least 5 of each are needed" in admin_client.get(learning).content.decode()

    ada = make_user("mina", "editor")
    for number, place in enumerate(PLACES):
        text = NOTE.format(place=place)
        copy = text if number < 5 else f"{NOTE.format(place=place[::-1])} Nobody in {place} was asked."
        date = f"2026-03-{number + 1:02}"
        left = store(text, date=date, headline=f"{place} sells its depot")
        right = store(copy, date=date, newspaper="Coast Telegraph", headline=f"Depot of {place} to be sold")
        for each in (left, right):
            HeadlineForm.objects.create(
                article=each, newspaper=each.newspaper, date=each.date, form=each.headline, revision=each.revision
            )
        pair = make_pair(left, right, trigram=0.9)
        decisions.decide_pair(pair.pk, "confirm" if number < 5 else "reject", user=ada)

    page = admin_client.post(reverse("learn"), follow=True).content.decode()
    assert "waiting for a worker" in page
    assert "under way already" in admin_client.post(reverse("learn"), follow=True).content.decode()
    lesson = Lesson.objects.latest("pk")
    assert DBTaskResult.objects.filter(task_path="dedup.evaluation.tasks.learn_task").count() == 2
    model = learn_task.call(lesson_id=lesson.pk)
    assert learn_task.call(lesson_id=lesson.pk) is None
    page = editor_client.get(learning).content.decode()
    for shown in ("Learnt from 10 decided pairs: 5 duplicates", "Tested on 10 pairs", "What would change"):
        assert shown in page
    assert "Learn now" not in page
    assert "Use it" not in visitor.get(learning).content.decode()

    assert editor_client.post(reverse("model_use"), {"model": str(model)}).status_code == 403
    said = admin_client.post(reverse("model_use"), {"model": str(model)}, follow=True).content.decode()
    assert f"Model {model} is in use" in said
    assert FittedModel.objects.get(in_use=True).pk == model
    assert "no model" in admin_client.post(reverse("model_use"), {"model": "999"}, follow=True).content.decode()
    admin_client.post(reverse("model_use"), {"model": "shipped"})
    assert not FittedModel.objects.filter(in_use=True).exists()
    admin_client.post(reverse("learn"))
    waiting = Lesson.objects.latest("pk")
    admin_client.post(reverse("lesson_give_up", args=[waiting.pk]))
    assert learn_task.call(lesson_id=waiting.pk) is None
