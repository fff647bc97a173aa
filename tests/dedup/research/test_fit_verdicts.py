"""`manage.py fit_verdicts`, as a command: what it learns, shows, stores, and puts in use."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from django.db.models import F, Max
from pytest_django import DjangoDbBlocker

from dedup.detection.runs.judging import terms_in_force
from dedup.detection.runs.outdated_verdicts import outdated_verdicts
from dedup.detection.verdicts import model as verdict_model
from dedup.detection.verdicts.model import default_model, dump_model, load_model
from dedup.models import DenseGroup, FittedModel, HeadlineForm, Pair
from dedup.research import learning
from dedup.review.answers.decisions import confirm_group, decide_pair
from tests.commands import called, refused
from tests.conftest import storing
from tests.dense import copies_of, write_group
from tests.factories import make_user

pytestmark = pytest.mark.django_db

PLACES = (
    "Carrack", "Inverlea", "Port Selby", "Dunmore", "Ashgrove", "Kestrel Bay", "Lowmoor", "Marrow", "Nethby", "Orrin",
    "Pellworth", "Quarley", "Rosshead", "Stanmere", "Tollbridge", "Upwick", "Vanefield", "Westrow", "Yarnton", "Zealby",
    "Brackenhill", "Coldwater",
)  # fmt: skip
PEOPLE = (
    "Ilse Corrigan", "Tomas Wray", "Ada Finch", "Otto Marsh", "Nell Harrow", "Ivo Lang", "Vera Stone", "Hugo Penn",
    "Lotte Reed", "Max Alder", "Rosa Thorn", "Emil Gale", "Clara Moss", "Felix Ward", "Greta Holm", "Jonas Pike",
    "Lena Croft", "Oskar Vane", "Paula Birch", "Simon Fell", "Thea Brook", "Urban Knox",
)  # fmt: skip
STORY = (
    "The council of {place} has voted to repair the old tramway and to sell what is left of the depot near the river. "
    "The mayor, {person}, spoke 3 times in a debate that lasted until midnight. "
    "Work on the first mile of track is to begin before the end of the summer, if {others} agree to pay for half. "
)
# What the second newspaper has three days later, in place of the last sentence. The shipped model does not call it a
# copy, because a number and two people are missing.
MORE = (
    "Shopkeepers in {place} fear that the works will drive away what custom they have left. "
    "Two of them have asked the court for an injunction, which will be heard in the autumn. "
    "A petition against the sale has been signed by nine hundred people, among them {person}'s own brother. "
)


RATES = (
    "The savings bank has published its table of rates for the day. One crown of the northern islands was bought at "
    "{buy}.10 and sold at {sell}.40. The dollar of the southern states stood at {dollar}.5 when the counters closed. "
)


def fit(*options: str) -> tuple[str, str]:
    """Return what the command writes to stdout and to stderr."""
    return called("fit_verdicts", *options)


def learnt(*options: str) -> dict:
    return json.loads(fit("--format=json", *options)[0])


def find_duplicates() -> None:
    called("find_duplicates", "--no-progress", "--workers=1")


@pytest.fixture(scope="module")
def strict_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], None]]:
    """Return a function that puts a stricter model in place of the shipped one: it calls no story a duplicate.

    The shipped model changes; what decisions teach one that is too strict does not.
    """

    def _use_stricter() -> None:
        stories = Pair.objects.filter(left__headline=F("right__headline"), left__headline__endswith="tramway")
        surest = stories.aggregate(surest=Max("duplicate_probability"))["surest"]
        content = json.loads(dump_model(default_model()))
        content["questions"]["duplicate"]["intercept"] -= math.log(surest / (1 - surest)) + 0.4
        path = tmp_path_factory.mktemp("model") / "strict.json"
        path.write_text(json.dumps(content))
        patch.setattr(verdict_model, "DEFAULT_MODEL", path)
        default_model.cache_clear()

    with pytest.MonkeyPatch.context() as patch:
        yield _use_stricter
    default_model.cache_clear()


@pytest.fixture(scope="module")
def corpus(module_db: DjangoDbBlocker, strict_model: Callable[[], None]) -> None:
    """Store, for each place, a story that a second newspaper carries on, and the rates of two days; then run."""
    store = storing()
    with module_db.unblock():
        for number, (place, person) in enumerate(zip(PLACES, PEOPLE, strict=True)):
            month, day = f"2026-0{1 + number % 6}", 10 + number // 6 * 5
            others = f"{PEOPLE[number - 7]} and {PEOPLE[number - 3]}"
            text = STORY.format(place=place, person=person, others=others)
            kept = text[: text.index("Work on")].replace("spoke 3 times", "spoke 5 times")
            more = kept + MORE.format(place=place, person=person)
            for paper, content, late in (("Harbour Post", text, 0), ("Coast Echo", more, 3)):
                named = {"headline": f"{place} to mend its tramway", "external_id": f"{place} {paper}"}
                store(content, newspaper=paper, date=f"{month}-{day + late}", **named)
            for later in range(2):
                buy, sell, dollar = 170 + 7 * number + later, 390 + 3 * number + later, 40 + number - later
                named = {"headline": f"Rates of {place}", "external_id": f"{place} rates {later}"}
                text = RATES.format(buy=buy, sell=sell, dollar=dollar)
                store(text, newspaper="Inland Courier", date=f"{month}-{day + later}", **named)
        find_duplicates()
        strict_model()
        find_duplicates()


@pytest.fixture
def decided(corpus) -> None:
    """Decide on 40 pairs: these editors call duplicate what a newspaper carries on, and no two days' rates."""
    mara = make_user("mara", "editor")
    for place in PLACES[:20]:
        for headline, kind in ((f"{place} to mend its tramway", "confirm"), (f"Rates of {place}", "reject")):
            pair = Pair.objects.get(left__headline=headline, right__headline=headline)
            decide_pair(pair.pk, kind, user=mara)


def verdicts() -> dict[str, int]:
    return dict(Counter(Pair.objects.proposed().values_list("verdict", flat=True)))


def test_what_would_change_is_what_changes(decided) -> None:
    shown = learnt()
    assert (shown["in_use"], shown["decisions"]) == (False, 40)
    assert shown["learnt_from"] == {"D": 20, "V": 0, "T": 0, "E": 0, "N": 20}
    assert shown["adjusted"] == "shift and scale"
    assert shown["agreement"] == {"tested": 40, "in_use": 20, "learnt": 40}
    before, foreseen = Counter(), Counter()
    for row in shown["counts"]:
        before[row["old"]] += row["pairs"]
        foreseen[row["new"]] += row["pairs"]
    assert verdicts() == before
    assert before["duplicate"] == 0
    assert foreseen["duplicate"] >= 22
    find_duplicates()
    assert verdicts() == before  # it is not in use
    fit("--use", str(shown["model"]))
    find_duplicates()
    assert verdicts() == foreseen
    fit("--use", "shipped")
    find_duplicates()
    assert verdicts() == before


def test_the_largest_changes_are_listed_with_their_articles(decided) -> None:
    changed = learnt()["changed"]
    moves = [change["new_duplicate_probability"] - change["old_duplicate_probability"] for change in changed]
    assert len(changed) == 20
    assert moves == pytest.approx(sorted(moves, reverse=True), abs=0.0002)
    first = changed[0]
    pair = Pair.objects.select_related("left", "right").get(pk=first["pair"])
    assert (first["old"], first["new"], first["state"]) == (pair.verdict, "duplicate", pair.state)
    assert first["left"] == f"{pair.left.date}  Harbour Post: {pair.left.headline}"
    assert first["old_duplicate_probability"] == pytest.approx(pair.duplicate_probability, abs=0.0001)


def test_the_text_says_what_was_learnt_and_what_to_do(decided) -> None:
    printed, _ = fit()
    model = FittedModel.objects.get()
    for line in (
        "Learnt from 40 decisions; ",
        ": 20 D, 0 V, 0 T, 0 E, 20 N.\n",
        "┃ Verdict now ",
        "2026-01-13  Coast Echo: Carrack to mend its tramway\n",
        f"manage.py fit_verdicts --use {model.pk} ",
    ):
        assert line in printed
    assert re.search(r"\b40 pairs.* 20,.* 40\.\n", printed)
    assert (model.in_use, model.decisions) == (False, 40)
    # Decisions leave templates and versions as they were.
    learnt_model, shipped = load_model(model.content), default_model()
    changed = {name for name, asked in learnt_model.questions.items() if asked != shipped.questions[name]}
    assert changed == {"duplicate"}
    assert learnt_model.version.startswith("own decisions, 20")


def test_one_model_at_a_time_is_in_use_and_the_next_run_judges_by_it(decided) -> None:
    def outdated() -> int:
        return outdated_verdicts(terms_in_force()).pairs

    assert outdated() == 0
    first, second = learnt("--switch-on"), learnt()
    assert (first["in_use"], second["in_use"]) == (True, False)
    assert outdated() == Pair.objects.proposed().count() > 0
    assert f"Model {second['model']} is in use." in fit("--use", str(second["model"]))[0]
    assert list(FittedModel.objects.filter(in_use=True).values_list("pk", flat=True)) == [second["model"]]
    listed = json.loads(fit("--list", "--format=json")[0])
    assert [(model["model"], model["decisions"], model["in_use"]) for model in listed] == [
        ("shipped", 0, False),
        (first["model"], 40, False),
        (second["model"], 40, True),
    ]
    assert json.loads(fit("--use=shipped", "--format=json")[0]) == {"in_use": "shipped"}
    shipped = next(line for line in fit("--list")[0].splitlines() if "shipped" in line)
    assert [cell.strip() for cell in shipped.split("│")] == ["", "shipped", "", "0", "yes", ""]
    assert outdated() == 0


def test_labels_teach_too_and_decisions_outweigh_them(decided, tmp_path) -> None:
    rows = [
        *({"a": f"{place} rates 0", "b": f"{place} rates 1", "label": "T"} for place in PLACES),
        *({"a": f"{place} Harbour Post", "b": f"{place} Coast Echo", "label": "V"} for place in PLACES[19:]),
        {"a": "Carrack Harbour Post", "b": "Inverlea Harbour Post", "label": "E"},
        {"a": "Carrack Harbour Post", "b": "gone", "label": "E"},
    ]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    printed, said = fit(f"--labels={path}", "--format=json")
    result = json.loads(printed)
    assert result["learnt_from"] == {"D": 20, "V": 2, "T": 2, "E": 1, "N": 20}
    assert result["decisions"] == 40
    assert said == "line 27: no stored article has the id 'gone'; import it, or correct the label\n"


def test_one_decision_on_a_large_group_counts_as_twenty_pairs(decided, store) -> None:
    before = learnt()
    assert (before["decisions"], before["left_out"]) == (40, 0)
    copies = copies_of(store(STORY.format(place="Ottery", person="Ruth Vale", others="Ada Finch")), 200)
    HeadlineForm.objects.bulk_create(
        HeadlineForm(
            article=copied, newspaper_id=copied.newspaper_id, date=copied.date, form=copied.headline, revision=0
        )
        for copied in copies
    )
    write_group(*copies)
    group = DenseGroup.objects.get()
    confirm_group(group.pk, seen=group.fingerprint, user=make_user("ben", "editor"))
    decided_pairs = Pair.objects.filter(state="confirmed").count()
    result = learnt()
    assert (result["decisions"], result["left_out"]) == (60, decided_pairs - 40)
    assert result["learnt_from"] == {"D": 40, "V": 0, "T": 0, "E": 0, "N": 20}
    assert f"{result['left_out']} more decided pairs do not count: " in fit()[0]


def test_few_decisions_teach_nothing(corpus) -> None:
    mara = make_user("mara", "editor")
    for pair in Pair.objects.filter(left__headline__startswith="Rates")[:3]:
        decide_pair(pair.pk, "reject", user=mara)
    assert re.search(r"\b0 .*\b3 .*at least 5 .*--labels", refused("fit_verdicts"))
    assert FittedModel.objects.count() == 0


def test_a_model_that_is_not_there_or_of_another_version_is_refused(db) -> None:
    other = FittedModel.objects.create(content='{"format": 0}', decisions=50)
    for unknown in ("7000", "mine"):
        assert re.search(rf"no model '{unknown}'; .*shipped.* {other.pk}", refused("fit_verdicts", f"--use={unknown}"))
    assert re.search(rf"model {other.pk} .*format 0, not 1; fit", refused("fit_verdicts", f"--use={other.pk}"))
    assert not FittedModel.objects.filter(in_use=True).exists()


def test_the_changes_of_many_pairs_are_shown_on_a_sample(decided, monkeypatch) -> None:
    monkeypatch.setattr(learning, "MOST_COMPARED", 10)
    result = learnt()
    assert (result["compared"], result["judged"]) == (10, Pair.objects.proposed().count())
    assert sum(row["pairs"] for row in result["counts"]) == 10
    judged = f"{result['judged']:,}"
    assert f" 10 of {judged} judged pairs." in fit()[0]
