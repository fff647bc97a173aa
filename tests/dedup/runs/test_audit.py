"""`find_duplicates --audit`: the plain SQL join on some days, held against what the trigram pass stored."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from articles.models import Article
from dedup.detection.runs.dense_groups import update_groups
from dedup.detection.runs.evidence import store_hubs
from dedup.management import arguments
from dedup.management.commands import find_duplicates as command
from dedup.models import DenseGroup, Evidence, Pair
from tests.dedup.runs.running import WIRE
from tests.dedup.runs.running import command as run_command

pytestmark = pytest.mark.django_db


def find_duplicates(*options: str) -> tuple[str, str]:
    return run_command("find_duplicates", "--passes=trigram", *options)


@pytest.fixture
def corpus(store) -> list[Article]:
    """Six days of a text that changes a little from day to day, in two newspapers."""
    return [
        store(f"{WIRE} {'Ferries are not affected. ' * day}", newspaper=paper, date=f"2026-03-0{day}")
        for day in range(1, 7)
        for paper in ("Harbour Post", "Inland Courier")
    ]


@pytest.mark.slow
def test_more_days_than_there_are_is_all_of_them(corpus) -> None:
    printed, _ = find_duplicates("--audit=50", "--day-window=2", "--threshold=trigram=0.4")
    assert "on 6 of 6 days." in printed
    lines = [line.replace(" ", "") for line in printed.splitlines() if line.startswith("│ 2026-03")]
    # Two articles a day: one pair within the day, and four with each of the two days before.
    assert [line.split("│")[3] for line in lines] == ["1", "5", "9", "9", "9", "9"]
    assert [line.split("│")[4:7] for line in lines] == [[found, "0", "0"] for found in ("1", "5", "9", "9", "9", "9")]


def test_some_days_agree_and_results_for_programs_stay_clean(corpus) -> None:
    printed, said = find_duplicates("--audit=2", "--format=json")
    assert json.loads(printed)["state"] == "done"
    assert "on 2 of 2 days." in said
    assert len([line for line in said.splitlines() if line.startswith("│ 2026-03")]) == 2


@pytest.mark.slow
def test_bounds_of_the_run_bound_the_audit(corpus) -> None:
    printed, _ = find_duplicates("--audit=9", "--since=2026-03-03", "--until=2026-03-04", "--newspaper=Harbour Post")
    assert "on 2 of 2 days." in printed


def test_what_was_missed_invented_or_scored_otherwise_is_counted_and_ends_with_1(corpus, monkeypatch) -> None:
    def tampered(*arguments: object, **options: object) -> None:
        run_detection(*arguments, **options)
        first, second, third = Evidence.objects.order_by("pair__left", "pair__right")[:3]
        first.delete()
        Evidence.objects.filter(pk=second.pk).update(score=0.77)
        third.pair_id = Pair.objects.create(
            left=corpus[0], right=corpus[11], days_apart=5, same_newspaper=False, best_score=0.9
        ).pk
        third.save()

    run_detection = command.run_detection
    monkeypatch.setattr(command, "run_detection", tampered)
    output = io.StringIO()
    with pytest.raises(CommandError, match="the trigram pass and the plain join differ; please report this") as raised:
        call_command("find_duplicates", "--passes=trigram", "--audit=6", "--no-progress", stdout=output)
    assert raised.value.returncode == 1
    cells = [line.replace(" ", "").split("│")[5:8] for line in output.getvalue().splitlines() if "│ 2026-03" in line]
    assert [sum(int(row[place]) for row in cells) for place in (0, 1, 2)] == [2, 1, 1]
    assert f"{corpus[0].pk} and {corpus[11].pk}" in output.getvalue()


@pytest.mark.parametrize("options", [["--audit=2", "--dry-run"], ["--audit=2", "--passes=url"]])
def test_there_must_be_something_to_judge(options) -> None:
    with pytest.raises(CommandError, match=r"--audit .*trigram pass.*; .*without --dry-run") as raised:
        call_command("find_duplicates", *options)
    assert raised.value.returncode == 2


def test_an_empty_store_has_no_day() -> None:
    assert "no days with articles" in find_duplicates("--audit=3")[0]


def test_pairs_inside_a_dense_group_are_left_out_and_no_fault(corpus, monkeypatch) -> None:
    def reduced(run, *arguments: object, **options: object) -> None:
        run_detection(run, *arguments, **options)
        found = Evidence.objects.order_by("pair__left", "pair__right")
        hubs = corpus[:4]
        store_hubs(run.pk, "trigram", {article.pk: 60 for article in hubs}, only_new=False)
        # The first one is between two of them, the last one between two others.
        for pair in (found[0], found[found.count() - 1]) if options_of_the_run["missed"] else (found[0],):
            pair.delete()
        update_groups()

    options_of_the_run = {"missed": False}
    run_detection = command.run_detection
    monkeypatch.setattr(command, "run_detection", reduced)
    printed, _ = find_duplicates("--audit=6")
    assert "on 6 of 6 days." in printed
    assert "Left out on purpose: 1 pairs" in printed
    assert [group.size for group in DenseGroup.objects.all()] == [4]
    options_of_the_run["missed"] = True
    with pytest.raises(CommandError, match="the trigram pass and the plain join differ"):
        find_duplicates("--audit=6")


def test_a_long_audit_says_how_long_it_takes(corpus, monkeypatch) -> None:
    monkeypatch.setattr(arguments, "SECONDS_PER_PAIR", 120.0)
    _, said = find_duplicates("--audit=50", "--day-window=2")
    # Each day has two articles: one pair within the day, and four with each of the two days before.
    assert "compares 42 pairs one by one, which takes about 84 minutes" in said
