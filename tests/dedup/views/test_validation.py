"""The pages of validation samples: blind reading, two readers, results, and who may do what."""

import csv
import html
import io
import re
from itertools import combinations

import pytest
from django.contrib.auth.models import User
from django.db.models import Q
from django.test import Client

from articles.models import Article
from dedup.models import Cluster, Decision, Evidence, Pair, SampleLabel, ValidationSample
from dedup.research.sampling import Plan, draw
from dedup.review.answers.decisions import decide_pair
from tests.conftest import StoreArticle
from tests.factories import client_of, make_pair, make_user
from tests.pages import notices

pytestmark = pytest.mark.django_db

# What would tell a reader what the program or an editor says.
TELLING = ("score", "probab", "chance", "reason", "evidence", "trigram", "minhash", "similar", "confirmed", "cluster ")


def words_of(page: str) -> str:
    """Return what a page shows below its menu, without the token of its forms."""
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", page.partition("<main")[2])


@pytest.fixture
def sample(store: StoreArticle, editor: User) -> ValidationSample:
    """Draw all 10 pairs of five articles for two readers; 6 are called duplicates."""
    articles = [store(f"The pier closes on day {day}.", date="2026-03-01", headline=f"Pier {day}") for day in range(5)]
    for place, (one, other) in enumerate(combinations(articles, 2)):
        pair = make_pair(one, other, verdict="duplicate" if place < 6 else "similar", trigram=0.9 - place / 20)
        pair.reasons = ["Both have the same reasons."]
        pair.save()
    return draw(Plan(size=10, by=("verdict",), readers=2), seed=1, name="spring", user=editor)


def test_a_pair_is_shown_without_anything_that_is_known_about_it(
    sample: ValidationSample, editor: User, django_assert_num_queries
) -> None:
    client, other = client_of(editor), make_user("ines", "editor")
    address = f"/validation/{sample.pk}/4/"
    with django_assert_num_queries(6):
        blind = client.get(address).content.decode()
    shown = words_of(blind)
    assert [word for word in TELLING if word in re.sub(r"<[^>]+>", " ", shown).lower()] == []
    assert "/articles/" not in shown.replace("/articles/details", "")
    assert [key for key in "dvten" if f'data-key="{key}"' in shown] == list("dvten")

    # Whatever the program, editors and other readers say meanwhile, the page stays the same.
    drawn = sample.pairs.get(position=4)
    pair = Pair.objects.get(left=drawn.left, right=drawn.right)
    SampleLabel.objects.create(pair=drawn, reader="ines", label="T", note="other reader's note")
    decide_pair(pair.pk, "template", user=other, seen=0, note="a decision")
    Pair.objects.filter(pk=pair.pk).update(verdict="template", best_score=0.99, probability=0.2, reasons=["Other."])
    Evidence.objects.filter(pair=pair).update(score=0.31)
    assert words_of(client.get(address).content.decode()) == shown
    # Neither the list nor the page of the sample says more than how many are read.
    for page in ("/validation/", f"/validation/{sample.pk}/"):
        assert "Template" not in words_of(client.get(page).content.decode())


def test_two_people_read_alone_and_then_see_how_they_agree(sample: ValidationSample, editor: User) -> None:
    mara, ines, guest = (
        client_of(user) for user in (editor, make_user("ines", "editor"), make_user("guest", "viewer"))
    )
    page, before = f"/validation/{sample.pk}/", list(Pair.objects.order_by("pk").values())

    # mara: a label, another one that replaces it, undo, and then all ten.
    assert mara.post(f"{page}1/label/", {"label": "D", "note": "sure"})["Location"] == f"{page}2/"
    assert mara.post(f"{page}1/label/", {"label": "V"})["Location"] == f"{page}2/"
    assert "<strong>Version</strong>" in mara.get(f"{page}1/").content.decode()
    assert "<strong>Version</strong>" not in ines.get(f"{page}1/").content.decode()
    assert mara.post(f"{page}undo/")["Location"] == f"{page}1/"
    assert mara.post(f"{page}undo/")["Location"] == page
    assert not SampleLabel.objects.exists()
    background = mara.post(f"{page}3/label/", {"label": "N"}, headers={"X-Answer": "background"})
    assert (background["X-Answer"], background["X-Next"]) == ("stored", f"{page}4/")
    assert "strip" not in background.content.decode()
    refused = mara.post(f"{page}4/label/", {"label": "Q"}, follow=True)
    assert [kind for kind, _ in notices(refused.content.decode())] == ["error"]
    for position, label in enumerate("DDNDVTEDDN", start=1):
        last = mara.post(f"{page}{position}/label/", {"label": label})
    assert last["Location"] == page

    # Nobody sees results yet; the files and the disagreements are closed too.
    for closed in ("disagreements/", "labels.csv", "labels.jsonl"):
        assert guest.get(f"{page}{closed}")["Location"] == page
    assert "Precision" not in mara.get(page).content.decode()
    assert "Open the results now" in mara.get(page).content.decode()
    assert "Open the results now" not in ines.get(page).content.decode()
    ines.post(f"{page}open/")
    assert ValidationSample.objects.get().opened_at is None

    for position, label in enumerate("DDNNVTEDNN", start=1):
        ines.post(f"{page}{position}/label/", {"label": label})
    finished = guest.get(page).content.decode()
    assert (
        "Labels of 10 pairs: 0 by one reader, 8 by readers who agree, 0 settled after a disagreement, 2 by" in finished
    )
    # With 10 pairs, kappa would say nothing.
    assert "too few readings" in finished
    assert "80.0%" in finished
    listed = guest.get(f"{page}disagreements/").content.decode()
    assert re.findall(r'id="pair-(\d+)"', listed) == ["4", "9"]
    assert "Settle it" not in listed
    assert ines.post(f"{page}4/settle/", {"label": "N", "note": "read it together"})["Location"].endswith("#pair-4")
    needless = ines.post(f"{page}1/settle/", {"label": "N"}, follow=True)
    assert "error" in [kind for kind, _ in notices(needless.content.decode())]
    file = guest.get(f"{page}labels.csv").getvalue().decode()
    labels = {row["position"]: row["label"] for row in csv.DictReader(io.StringIO(file))}
    assert "".join(labels[str(position)] for position in range(1, 11)) == "DDNNVTEDDN"
    # Labels change nothing.
    assert list(Pair.objects.order_by("pk").values()) == before
    assert not Decision.objects.exists()
    assert not Cluster.objects.exists()


def test_results_have_kappa_precision_and_recall(store: StoreArticle, editor: User, django_assert_num_queries) -> None:
    """40 pairs, all drawn; 30 are called duplicates, of which 24 are; of the 10 others, 2 are."""
    articles = [store(date="2026-03-01") for _ in range(10)]
    for place, (one, other) in enumerate(list(combinations(articles, 2))[:40]):
        make_pair(one, other, verdict="duplicate" if place < 30 else "similar", trigram=0.9)
    sample = draw(Plan(size=40, by=("verdict",), readers=2), seed=1, user=editor)
    drawn = sorted(sample.pairs.all(), key=lambda pair: pair.stratum)
    # ines sees two of the 26 duplicates of mara and two of the 14 others otherwise: kappa is (0.9 - 0.545) / 0.455.
    mara = "D" * 24 + "N" * 6 + "DD" + "N" * 8
    ines = "NN" + "D" * 22 + "DD" + "N" * 4 + "DD" + "N" * 8
    for reader, labels in (("mara", mara), ("ines", ines)):
        for pair, label in zip(drawn, labels, strict=True):
            SampleLabel.objects.create(pair=pair, reader=reader, label=label)
    client = client_of(editor)
    with django_assert_num_queries(14):
        page = client.get(f"/validation/{sample.pk}/").content.decode()
    assert "<td>0.78 (0.58 to 0.98)</td>" in page
    # All pairs of the archive were read, so nothing is left to chance.
    assert "Precision: <strong>80.0%</strong> (80.0% to 80.0%)" in page
    assert f"Recall among the proposed pairs: <strong>{24 / 26:.1%}</strong>" in page
    assert "Recall: not known" in page


def test_results_can_be_opened_early_and_readers_are_warned(sample: ValidationSample, editor: User) -> None:
    mara, ines = client_of(editor), client_of(make_user("ines", "editor"))
    page = f"/validation/{sample.pk}/"
    ines.post(f"{page}2/label/", {"label": "D"})
    assert mara.post(f"{page}open/")["Location"] == f"{page}?results=1"
    assert "Opened early by mara" in mara.get(page).content.decode()
    warned = ines.get(page).content.decode()
    assert "Opened early" not in warned
    assert 'href="?results=1"' in warned
    assert "Precision" in ines.get(f"{page}?results=1").content.decode()

    # A sample stays what it was drawn as: a text that changes later is only mentioned.
    drawn = list(sample.pairs.values())
    strata = sample.strata
    changed = sample.pairs.get(position=1).left
    near = sample.pairs.filter(Q(left=changed) | Q(right=changed)).count()
    Article.objects.filter(pk=changed.pk).update(content="The pier opens again.")
    assert f"Of {near} pairs, an article has changed" in mara.get(page).content.decode()
    sample.refresh_from_db()
    assert (list(sample.pairs.values()), sample.strata) == (drawn, strata)
    assert "The pier opens again." in html.unescape(re.sub("<[^>]+>", "", mara.get(f"{page}1/").content.decode()))


def test_a_sample_is_drawn_from_the_page(store: StoreArticle, editor_client: Client, editor: User) -> None:
    form = {
        "name": "spring", "size": "2", "per_stratum": "", "not_proposed": "1", "window_days": "3",
        "by": ["band", "days"], "pass_name": "trigram", "bands": "0.7, 0.9", "near_days": "2", "readers": "2",
        "seed": "5",
    }  # fmt: skip
    nothing = editor_client.post("/validation/new/", form)
    assert nothing.status_code == 400
    assert "The archive has 0 strata" not in nothing.content.decode()
    assert not ValidationSample.objects.exists()
    one, other, third = (store(date=f"2026-03-0{day}") for day in (1, 2, 4))
    make_pair(one, other, trigram=0.95)
    make_pair(one, third, trigram=0.75)
    for field, value, said in (
        ("size", "1", "draw at least 2 pairs"),
        ("bands", "0.9, x", "Write the bounds as numbers"),
        ("bands", "0.9, 0.7", "The score bands are 0.9, 0.7; give at most 20 bounds"),
        ("per_stratum", "3", "Give either the size of the sample or the number per stratum, not both"),
        ("seed", "-1", "greater than or equal to 0"),
    ):
        answer = editor_client.post("/validation/new/", {**form, field: value})
        assert (answer.status_code, said in answer.content.decode()) == (400, True), field
    answer = editor_client.post("/validation/new/", form)
    drawn = ValidationSample.objects.get()
    assert (answer["Location"], drawn.drawn_by, drawn.seed) == (f"/validation/{drawn.pk}/", editor, 5)
    assert [row["name"] for row in drawn.strata] == [
        "trigram 0.90-1.00 / 0-2 days", "trigram 0.70-0.90 / 3+ days", "not proposed / 0-3 days",
    ]  # fmt: skip
    assert "a sample is called" in editor_client.post("/validation/new/", form).content.decode().lower()
