"""Learning on the pages: queued once, shown before and after, switched on and off."""

import datetime
from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from articles.jobs.work import do_job
from articles.models import Job
from dedup.detection.types import VerdictKind
from dedup.detection.verdicts.model import default_model
from dedup.models import FittedModel, HeadlineForm, Lesson, Pair, SampleLabel, ValidationSample
from dedup.research.answers import LabelledPair
from dedup.research.learning import HeldOut, TrainingSet, drawn_support, sample_support
from dedup.research.lessons import CHANGES, Support
from dedup.review.answers import decisions
from tests.conftest import StoreArticle
from tests.factories import make_lesson, make_pair, make_user
from tests.pages import opened

pytestmark = pytest.mark.django_db

NOTE = (
    "The council of {place} has voted to repair the old tramway and to sell what is left of the depot near the river. "
    "Work on the first mile of track is to begin before the end of the summer if the county pays for half of it. "
)

PLACES = ("Carrack", "Inverlea", "Dunmore", "Ashgrove", "Lowmoor", "Marrow", "Nethby", "Orrin", "Quarley", "Upwick")


def test_a_lesson_is_queued_once_shown_and_switched_on_and_off(
    store: StoreArticle, admin_client: Client, editor_client: Client, visitor: Client
) -> None:
    learning = reverse("learning")
    assert "10 more answers until the model can learn" in admin_client.get(learning).content.decode()
    admin_client.post(reverse("learn"))
    do_job(Job.objects.get().pk)
    assert "at least 5 of each are needed" in admin_client.get(learning).content.decode()

    ada = make_user("mina", "editor")
    for number, place in enumerate(PLACES):
        text = NOTE.format(place=place)
        copy = text if number < 5 else f"{NOTE.format(place=place[::-1])} Nobody in {place} was asked."
        date = f"2026-03-{number + 1:02}"
        left = store(text, date=date, headline=f"{place} sells its depot")
        right = store(copy, date=date, newspaper="Coast Telegraph", headline=f"Depot of {place} to be sold")
        for article in (left, right):
            HeadlineForm.objects.create(
                article=article,
                newspaper=article.newspaper,
                date=article.date,
                form=article.headline,
                revision=article.revision,
            )
        pair = make_pair(left, right, trigram=0.9)
        decisions.decide_pair(pair.pk, "confirm" if number < 5 else "reject", user=ada)

    read_copy(store)
    page = admin_client.post(reverse("learn"), follow=True).content.decode()
    assert "waiting for a worker" in page
    assert "under way already" in admin_client.post(reverse("learn"), follow=True).content.decode()
    job = Job.objects.latest("pk")
    assert Job.objects.count() == 2
    for _ in range(2):
        do_job(job.pk)
    model = FittedModel.objects.get().pk
    assert job.lesson.model_id == model
    page = editor_client.get(learning).content.decode()
    for shown in ("Learnt from 10 decided pairs: 5 duplicates", "Tested on 10 pairs", "What would change"):
        assert shown in page
    assert "0 of them were drawn at random" in page
    assert "Learn now" not in page
    assert "Use it" not in visitor.get(learning).content.decode()

    # A model that finds no duplicate is wrong about the pair of the sample that a reader called one.
    assert sample_support(default_model()) == Support()
    assert sample_support(replace(default_model(), threshold=1.1)) == Support(old_right=1)

    assert editor_client.post(reverse("model_use"), {"model": str(model)}).status_code == 403
    said = admin_client.post(reverse("model_use"), {"model": str(model)}, follow=True).content.decode()
    assert f"Model {model} is in use" in said
    assert FittedModel.objects.get(in_use=True).pk == model
    assert "no model" in admin_client.post(reverse("model_use"), {"model": "999"}, follow=True).content.decode()
    admin_client.post(reverse("model_use"), {"model": "shipped"})
    assert not FittedModel.objects.filter(in_use=True).exists()
    admin_client.post(reverse("learn"))
    waiting = Job.objects.latest("pk")
    assert (
        "It was cancelled" in admin_client.post(reverse("job_cancel", args=[waiting.pk]), follow=True).content.decode()
    )
    do_job(waiting.pk)
    assert Lesson.objects.count() == 1


def read_copy(store: StoreArticle) -> None:
    """Store two copies that nobody decides, in a validation sample in which a reader calls them duplicates."""
    made = [
        store(NOTE.format(place="Yarnton"), newspaper=paper, headline="Depot sold") for paper in ("Harbour Post", "B")
    ]
    for row in made:
        HeadlineForm.objects.create(
            article=row, newspaper=row.newspaper, date=row.date, form=row.headline, revision=row.revision
        )
    make_pair(*made, trigram=0.99)
    strata = [{"name": "all", "pairs": 1, "asked": 1, "drawn": 1}]
    sample = ValidationSample.objects.create(name="S", seed=1, options={}, strata=strata, size=1, readers=1)
    ends = {"left": made[0], "right": made[1], "stratum": "all", "weight": 1.0, "revision": made[1].revision}
    SampleLabel.objects.create(pair=sample.pairs.create(position=1, **ends), reader="mara", label="D")


def test_of_the_answers_only_those_that_chance_chose_say_which_model_is_better() -> None:
    pairs = [LabelledPair((str(number), "0"), datetime.date(2026, 3, 1), "E", 1.0) for number in range(4)]
    verdicts = [("version", "similar"), ("version", "similar"), ("similar", "similar"), ("similar", "version")]
    tested = [HeldOut(place, VerdictKind(old), VerdictKind(new)) for place, (old, new) in enumerate(verdicts)]
    drawn = TrainingSet(pairs, [()] * 4, 4, 0, drawn={0, 2, 3})
    assert drawn_support(drawn, tested) == Support(new_right=1, old_right=1)


@pytest.fixture
def changed(store: StoreArticle) -> list[Pair]:
    """Return twelve pairs that a new model would no longer call versions."""
    return [
        make_pair(store(), store(newspaper="Coast Telegraph"), verdict="version", probability=0.6, trigram=0.6)
        for _ in range(12)
    ]


def test_a_model_that_changes_more_than_the_answers_support_is_held_back_until_drawn_changes_are_answered(
    changed: list[Pair], admin_client: Client, editor: User
) -> None:
    lesson, learning = make_lesson(*changed), reverse("learning")
    page = admin_client.get(learning).content.decode()
    assert "It finds fewer versions: 3,033 versions would become merely similar." in page
    assert "Held back." in page
    assert "Answer at least 5 more of the changed pairs below" in page
    assert "Use it" not in page
    assert [f"/pairs/{pair.pk}/?tab=changes" in page for pair in changed] == [True] * 10 + [False] * 2
    said = admin_client.post(reverse("model_use"), {"model": str(lesson.model_id)}, follow=True).content.decode()
    assert f"Nothing was switched: model {lesson.model_id} is held back: answer at least 5 more" in said
    assert not FittedModel.objects.filter(in_use=True).exists()

    # An editor who knows the other answers, and says that four are none of them, one a version.
    decisions.decide_pair(changed[11].pk, "version", user=editor)
    for pair in changed[:4]:
        decisions.decide_pair(pair.pk, "reject", user=editor)
    page = admin_client.get(learning).content.decode()
    assert "the new verdict is right on <strong>4</strong> and the old one on <strong>1</strong>" in page
    assert "Answer at least 3 more" in page
    assert f"/pairs/{changed[10].pk}/?tab=changes" in page
    for pair in changed[4:7]:
        decisions.decide_pair(pair.pk, "reject", user=editor)
    assert "at most 47% of its changes are wrong" in admin_client.get(learning).content.decode()
    said = admin_client.post(reverse("model_use"), {"model": str(lesson.model_id)}, follow=True).content.decode()
    assert f"Model {lesson.model_id} is in use" in said


def test_the_changes_to_answer_are_a_tab_of_the_queue_in_the_order_in_which_they_were_drawn(
    changed: list[Pair], editor_client: Client
) -> None:
    assert "Changes of a new model" not in opened(editor_client, "queue")
    make_lesson(*changed)
    drawn = list(Pair.objects.drawn(CHANGES))
    page = editor_client.get(f"{reverse('queue')}?tab=changes").content.decode()
    assert "Pairs to which a model that was just learnt gives another verdict" in page
    places = [page.index(f'href="/pairs/{pair.pk}/?tab=changes"') for pair in drawn]
    assert places == sorted(places)
    answered = editor_client.post(f"/pairs/{drawn[0].pk}/decide/?tab=changes", {"kind": "version", "seen": "0"})
    assert answered["Location"] == f"/pairs/{drawn[1].pk}/?tab=changes"


def test_answers_that_chance_chose_support_a_model_without_more(
    changed: list[Pair], admin_client: Client, editor: User
) -> None:
    """The sample of a batch, and labels of a validation sample, are counted when the model is learnt."""
    lesson = make_lesson(*changed)
    Lesson.objects.update(result={**lesson.result, "support": {"new_right": 8, "old_right": 1, "neither": 3}})
    page = opened(admin_client, "learning")
    assert "It can be used." in page
    assert page.count("Use it") == 1
