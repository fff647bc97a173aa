"""What the writers of reviews refuse: each says in one sentence what is wrong and what to do, and stores nothing."""

import datetime
from collections.abc import Callable
from typing import Any

import pytest
import time_machine
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.test import override_settings

from dedup.answers import BUTTONS, Answer
from dedup.detection.clustering.rebuild import rebuild_clusters
from dedup.models import Batch, Decision, DenseGroup, PageFetch, Pair, SampleLabel, SecondReading, Series
from dedup.research.sampling import Plan, draw
from dedup.review.answers import batches, cluster_decisions, decisions
from dedup.review.answers.decisions import ReviewError, seen_as
from dedup.review.readings import second_readings, validation
from dedup.review.rules import rules as series_rules
from dedup.review.rules import trials as fetches
from dedup.review.rules.rules import RuleError
from tests.conftest import StoreArticle
from tests.dense import write_group
from tests.factories import make_cluster, make_pair, make_series

pytestmark = pytest.mark.django_db
NOON = datetime.datetime(2026, 3, 2, 12, 0, tzinfo=datetime.UTC)


def refused(act: Callable[[], Any], kind: type[Exception] = ReviewError) -> str:
    with pytest.raises(kind) as raised:
        act()
    assert type(raised.value) is kind
    return str(raised.value)


def test_a_decision_on_a_pair_that_cannot_be_made(store: StoreArticle, editor: User, other: User) -> None:
    pair = make_pair(store(), store(), trigram=0.9)
    decide = decisions.decide_pair
    assert refused(lambda: decide(pair.pk, "keep", user=editor)) == (
        f"A pair cannot be decided with 'keep'; use one of {', '.join(Answer)}."
    )
    assert refused(lambda: decide(pair.pk + 1, "confirm", user=editor)) == f"There is no pair {pair.pk + 1}."
    assert refused(lambda: decide(pair.pk, "confirm", user=editor, note="x" * 2_001)) == (
        "The note has 2,001 characters; at most 2,000 are allowed."
    )
    assert not Decision.objects.exists()
    with time_machine.travel(NOON, tick=False):
        made = decide(pair.pk, "confirm", user=other, note="x" * 2_000)
    assert refused(lambda: decide(pair.pk, "reject", user=editor, seen=0), decisions.AlreadyDecidedError) == (
        f"otto confirmed the pair after you opened it (12:00, decision {made.pk}). Look again, and decide again if you "
        "disagree."
    )
    assert decide(pair.pk, "reject", user=editor, seen=made.pk).kind == "reject"


def test_an_undo_that_cannot_be_made(store: StoreArticle, editor: User) -> None:
    write_group(store(), store())
    series_rules.make_group_rule(DenseGroup.objects.get().pk, user=editor)
    rule = Decision.objects.get()
    made = decisions.decide_pair(make_pair(store(), store(), trigram=0.9).pk, "confirm", user=editor)
    undone = decisions.undo(made.pk, user=editor)
    undo: Callable[[int], Any] = lambda number: decisions.undo(number, user=editor)  # noqa: E731
    assert refused(lambda: undo(undone.pk + 1)) == f"There is no decision {undone.pk + 1}."
    assert refused(lambda: undo(undone.pk)) == "An undo cannot be undone; make a new decision instead."
    said = "A rule cannot be undone here; end it, or make it again, on the page of its group."
    assert refused(lambda: undo(rule.pk)) == said
    said = f"Decision {made.pk} has already been undone."
    assert refused(lambda: undo(made.pk), decisions.AlreadyUndoneError) == said
    assert Decision.objects.count() == 3


def test_a_decision_on_a_cluster_that_cannot_be_made(
    store: StoreArticle, editor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    articles = [store() for _ in range(3)]
    ids = [article.pk for article in articles]
    number = make_cluster(*articles).pk
    stale = decisions.StaleClusterError
    seen_two = (
        f"The articles of cluster {number} have changed since you opened it (you saw 2, now there are 3). Look again."
    )
    gone = f"Cluster {number + 1} no longer exists; its articles have been clustered again."
    elsewhere = f"Article 0 is no longer in cluster {number}. Look again."
    for act, said in (
        (lambda: decisions.confirm_cluster(number + 1, seen_as(ids), user=editor), gone),
        (lambda: decisions.confirm_cluster(number, seen_as(ids[:2]), user=editor), seen_two),
        (lambda: decisions.reject_cluster(number, seen_as(ids[1:]), user=editor), seen_two),
        (lambda: decisions.take_out(number, 0, user=editor), elsewhere),
        (lambda: decisions.keep_article(number, 0, user=editor), elsewhere),
    ):
        assert refused(act, stale) == said
    monkeypatch.setattr(decisions, "MAX_DISSOLVED", 2)
    assert refused(lambda: decisions.reject_cluster(number, seen_as(ids), user=editor)) == (
        "The cluster has 3 articles; at most 2 can be dissolved, or called versions or templates. Run a stricter "
        "profile to get smaller clusters, or make a rule on its dense group, if it has one."
    )
    assert not Decision.objects.exists()
    monkeypatch.setattr(decisions, "MAX_DISSOLVED", 3)
    assert decisions.reject_cluster(number, seen_as(ids), user=editor).links.count() == 3


def test_a_split_or_a_merger_that_cannot_be_made(
    store: StoreArticle, editor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    articles = [store() for _ in range(4)]
    ids = [article.pk for article in articles]
    number = make_cluster(*articles).pk
    split: Callable[..., str] = lambda *part: refused(  # noqa: E731
        lambda: cluster_decisions.split_cluster(number, part, seen_as(ids), user=editor)
    )
    assert split(ids[0], 0, -1) == f"Article -1 is not in cluster {number}. Look again."
    assert split() == "You ticked 0 of 4 articles; to split a cluster, tick at least one and not all."
    assert split(*ids) == "You ticked 4 of 4 articles; to split a cluster, tick at least one and not all."
    monkeypatch.setattr(cluster_decisions, "MAX_PARTED", 3)
    assert split(ids[0], ids[2]) == (
        "The parts have 2 and 2 articles, which is 4 pairs; at most 3 can be separated at once. Tick fewer articles."
    )
    assert refused(lambda: cluster_decisions.merge_clusters(number, number, seen_as(ids), user=editor)) == (
        f"Cluster {number} cannot be merged with itself; name another cluster."
    )
    stale = decisions.StaleClusterError
    refused(lambda: cluster_decisions.merge_clusters(number, number + 1, seen_as(ids), user=editor), stale)
    refused(lambda: cluster_decisions.split_cluster(number, ids[:1], seen_as(ids[:3]), user=editor), stale)
    assert not Decision.objects.exists()
    made = cluster_decisions.split_cluster(number, ids[3:], seen_as(ids), user=editor)  # 3 pairs
    assert made.links.filter(kind="cannot").count() == 3


def test_a_confirmation_of_a_group_that_cannot_be_made(store: StoreArticle, editor: User) -> None:
    articles = [store() for _ in range(4)]
    ids = [article.pk for article in articles]
    write_group(*articles)
    rebuild_clusters()
    group = DenseGroup.objects.get()
    confirm: Callable[..., Any] = lambda number, seen: decisions.confirm_group(number, seen=seen, user=editor)  # noqa: E731
    changed = "The articles of dense group {} have changed since you opened it. Look again."
    stale = decisions.StaleClusterError
    assert refused(lambda: confirm(group.pk, "x"), stale) == changed.format(group.pk)
    assert refused(lambda: confirm(group.pk + 1, group.fingerprint), stale) == changed.format(group.pk + 1)
    series_rules.make_group_rule(group.pk, user=editor)
    assert refused(lambda: confirm(group.pk, group.fingerprint)) == (
        "A rule says that the articles of this group are never duplicates. End the rule first."
    )
    series_rules.end_group_rule(group.pk, user=editor)

    # Decisions on the first article and another one would be overridden; those on the others keep them apart.
    make_pair(articles[1], articles[3], verdict="similar", trigram=0.5)
    first = Pair.objects.get(left=ids[1], right=ids[2])
    made = decisions.decide_pair(first.pk, "reject", user=editor)
    for left, right, more in (
        (None, None, ""),
        (1, 3, " (and 1 more pair is kept apart)"),
        (2, 3, " (and 2 more pairs are kept apart)"),
    ):
        if left:
            decisions.decide_pair(Pair.objects.get(left=ids[left], right=ids[right]).pk, "reject", user=editor)
        assert refused(lambda: confirm(group.pk, group.fingerprint)) == (
            f"Decision {made.pk} says that articles {ids[1]} and {ids[2]} are not duplicates{more}. Undo this first, "
            "or decide on the pairs and clusters of the group one by one."
        )
    assert set(Decision.objects.values_list("kind", flat=True)) == {"rule_group", "end_group_rule", "reject"}


@pytest.mark.parametrize(
    ("noun", "gone"),
    [
        ("series", "Series {} no longer exists; its headlines have changed."),
        ("group", "Dense group {} no longer exists; a run has grouped its articles again."),
    ],
)
def test_a_rule_that_cannot_be_made_or_ended(
    noun: str, gone: str, store: StoreArticle, editor: User, other: User
) -> None:
    articles = [store(), store()]
    make_series(articles[0].newspaper, "tides", *articles)
    write_group(*articles)
    ids = [article.pk for article in articles]
    row = (Series if noun == "series" else DenseGroup).objects.get()
    writers = {
        "series": (series_rules.make_rule, series_rules.end_rule),
        "group": (series_rules.make_group_rule, series_rules.end_group_rule),
    }
    make, end = writers[noun]
    assert refused(lambda: make(row.pk + 1, user=editor), RuleError) == gone.format(row.pk + 1)
    assert (
        refused(lambda: end(row.pk, user=editor), RuleError) == f"This {noun} has no rule; someone else has ended it."
    )
    if noun == "group":
        confirmed = decisions.confirm_group(row.pk, seen=row.fingerprint, user=other)
        assert refused(lambda: make(row.pk, user=editor), RuleError) == (
            f"Decision {confirmed.pk} of otto confirmed that the articles of this group are the same. Undo it first."
        )
        decisions.undo(confirmed.pk, user=editor)
    with time_machine.travel(NOON, tick=False):
        make(row.pk, user=other)
    assert refused(lambda: make(row.pk, user=editor), RuleError) == "otto already made this a rule on 2026-03-02."
    row.refresh_from_db()
    assert (row.ruled_by, row.ruled_at) == (other, NOON)
    end(row.pk, user=editor)
    row.refresh_from_db()
    assert (row.ruled_by, row.ruled_at, getattr(row, "made_for", None)) == (None, None, None)
    if noun == "group":
        noted = Decision.objects.exclude(kind__in=["confirm_group", "undo"]).order_by("pk")
        assert list(noted.values_list("kind", "group_number", "articles", "decided_by")) == [
            ("rule_group", row.pk, ids, other.pk), ("end_group_rule", row.pk, ids, editor.pk)
        ]  # fmt: skip
    else:
        entries = LogEntry.objects.filter(object_id=row.pk, action_flag=CHANGE).order_by("pk")
        acts = [(other.pk, "made it a rule"), (editor.pk, "ended the rule")]
        assert list(entries.values_list("user", "change_message")) == acts


def test_a_batch_that_cannot_be_begun_or_decided(
    store: StoreArticle, editor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [make_pair(store(), store(), trigram=0.9).pk for _ in range(3)]

    def begin(kind: str = "confirm", sample: int = 20, numbers: list[int] = pairs) -> Batch:
        return batches.begin(kind, pairs=numbers, sample=sample, query="state=undecided", user=editor)

    nothing = "Nothing in this list waits for an answer that a batch can give. Change the filter."
    for act, said in (
        (
            lambda: begin("unsure"),
            f"A batch cannot be answered with 'unsure'; use one of {', '.join(batches.ANSWERS)}.",
        ),
        (lambda: begin(sample=21), "A sample of 21 is not offered; choose one of 20, 59, 149."),
        (lambda: begin(numbers=[]), nothing),
    ):
        assert refused(act) == said
    monkeypatch.setattr(batches, "MOST_QUESTIONS", 2)
    assert refused(begin) == "The list has 3 questions; a batch has at most 2. Narrow the filter."
    assert not Batch.objects.exists()
    monkeypatch.setattr(batches, "MOST_QUESTIONS", 3)
    batch = begin()
    assert (batch.kind, batch.query, batch.size, batch.drawn) == ("confirm", "state=undecided", 3, 3)
    assert (batch.made_by, batch.after, batch.decision) == (editor, 0, None)
    decide: Callable[[], Any] = lambda: batches.decide(batch.pk, user=editor)  # noqa: E731
    decisions.decide_pair(pairs[0], "confirm", user=editor)
    assert refused(decide, batches.StaleBatchError) == (
        "2 of the 3 drawn questions have no answer yet. Answer them first."
    )
    for number in pairs[1:]:
        decisions.decide_pair(number, "confirm", user=editor)
    assert refused(decide, batches.StaleBatchError) == "Nothing of this batch is left to decide."
    undone = decisions.undo(Decision.objects.latest("pk").pk, user=editor)
    batch.items.filter(pair=pairs[2]).update(place=None)
    made = batches.decide(batch.pk, user=editor)
    assert refused(decide, batches.StaleBatchError) == f"Batch {batch.pk} is already decided, by decision {made.pk}."
    assert begin(numbers=[make_pair(store(), store(), trigram=0.9).pk]).after == made.pk > undone.pk


@override_settings(SECOND_READINGS=1.0)
def test_an_answer_of_a_second_editor_that_cannot_be_stored(store: StoreArticle, editor: User, other: User) -> None:
    pair = make_pair(store(), store(), trigram=0.9)
    first = decisions.decide_pair(pair.pk, "confirm", user=editor)
    again: Callable[..., Any] = lambda kind, **values: second_readings.read_again(pair.pk, kind, user=other, **values)  # noqa: E731

    def answer(kind: str, decision: int = first.pk, user: User = other) -> SecondReading:
        return second_readings.answer_collision(pair.pk, decision, kind, user=user)

    too_long = "The note has 2,001 characters; at most 2,000 are allowed."
    unknown = f"A pair cannot be answered with 'keep'; use one of {', '.join(BUTTONS)}."
    ended = f"Decision {first.pk + 1} on this pair is no longer in force. Look again."
    for act, said in (
        (lambda: again("keep"), unknown),
        (lambda: again("reject", note="x" * 2_001), too_long),
        (lambda: answer("reject", user=editor), "This is your own decision; make a new one to change it."),
        (lambda: answer("reject", decision=first.pk + 1), ended),
        (lambda: second_readings.settle(0, "reject", user=other), "There is no disagreement 0."),
    ):
        assert refused(act) == said
    assert not SecondReading.objects.exists()

    with time_machine.travel(NOON, tick=False) as clock:
        reading = again("reject", note=" \0not the same ")
        assert (reading.kind, reading.note, reading.blind, reading.user) == ("reject", "not the same", True, other)
        clock.shift(3_600)
        assert again("reject") == reading  # sent again
        clock.shift(1)
        gone = f"Pair {pair.pk} does not wait for a second reading any more. Nothing was stored."
        assert refused(lambda: again("reject")) == gone
    assert refused(lambda: second_readings.settle(reading.pk, "keep", user=other)).startswith("A pair cannot be dec")
    second_readings.settle(reading.pk, "reject", user=editor, note="read it twice")
    settled = Decision.objects.latest("pk")
    assert (settled.kind, settled.pair_id, settled.note) == ("reject", pair.pk, "read it twice")
    assert refused(lambda: second_readings.settle(reading.pk, "reject", user=other)) == (
        "Somebody settled this disagreement meanwhile. Look at the pair."
    )
    decisions.undo(settled.pk, user=editor)
    undo = decisions.undo(first.pk, user=editor)
    for number in (first.pk, undo.pk):
        said = f"Decision {number} on this pair is no longer in force. Look again."
        assert refused(lambda number=number: answer("confirm", decision=number)) == said


def test_a_label_that_cannot_be_stored(store: StoreArticle, editor: User, other: User) -> None:
    make_pair(store(date="2026-03-01"), store(date="2026-03-01"), trigram=0.9)
    make_pair(store(date="2026-03-01"), store(date="2026-03-01"), trigram=0.8)
    sample = draw(Plan(size=2, by=("verdict",), readers=2), seed=1, user=editor)
    pair = sample.pairs.get(position=1)
    wrong = "A pair cannot be labelled 'Q'; use one of D, V, T, E, N."
    too_long = "The note has 2,001 characters; at most 2,000 are allowed."
    label: Callable[..., Any] = lambda *given, **values: validation.label_pair(pair, *given, reader="mara", **values)  # noqa: E731
    assert refused(lambda: label("Q")) == wrong
    assert refused(lambda: label("D", note="x" * 2_001)) == too_long
    assert not SampleLabel.objects.exists()
    stored = label("D", note=" \0" + "x" * 1_997)
    assert (stored.label, stored.note, stored.reader, stored.imported) == ("D", "x" * 1_997, "mara", False)

    settle: Callable[..., Any] = lambda *given, **values: validation.settle(pair, *given, user=other, **values)  # noqa: E731
    assert refused(lambda: settle("D")) == "The readers of pair 1 do not disagree, so nothing is left to settle."
    assert validation.label_pair(pair, "N", reader="otto").note == ""
    assert refused(lambda: settle("Q")) == wrong
    assert refused(lambda: settle("D", note="x" * 2_001)) == too_long
    settle("N")
    pair.refresh_from_db()
    assert (pair.settled, pair.settled_note) == ("N", "")
    with time_machine.travel(NOON, tick=False):
        settle("D", note=" both looked ")
    pair.refresh_from_db()
    assert (pair.settled, pair.settled_by, pair.settled_note, pair.settled_at) == ("D", other, "both looked", NOON)

    assert refused(lambda: validation.open_results(sample, user=other)) == (
        "Only mara, who drew this sample, can open its results before it is finished."
    )
    with time_machine.travel(NOON, tick=False):
        validation.open_results(sample, user=editor)
    validation.open_results(sample, user=editor)
    sample.refresh_from_db()
    assert (sample.opened_by, sample.opened_at) == (editor, NOON)


def test_a_sample_is_finished_once_every_pair_has_its_readers_and_the_latest_label_is_taken_back(
    store: StoreArticle, editor: User
) -> None:
    for _ in range(2):
        make_pair(store(date="2026-03-01"), store(date="2026-03-01"), trigram=0.9)
    sample = draw(Plan(size=2, by=("verdict",), readers=2), seed=1)
    assert validation.may_open(sample, editor)  # nobody drew it
    one, other = sample.pairs.order_by("position")
    with time_machine.travel(NOON, tick=False) as clock:
        for pair, reader in ((other, "mara"), (one, "mara"), (one, "otto")):
            validation.label_pair(pair, "D", reader=reader)
            clock.shift(60)
            assert not validation.is_finished(sample)
        validation.label_pair(other, "N", reader="otto")
        assert validation.is_finished(sample)
        clock.shift(60)
        validation.label_pair(other, "V", reader="mara")  # replaces the first one, so it is the latest
    assert [validation.take_back(sample, reader="mara") for _ in range(3)] == [2, 1, None]
    assert not validation.is_finished(sample)
    left = SampleLabel.objects.order_by("pk").values_list("pair__position", "label", "reader")
    assert list(left) == [(1, "D", "otto"), (2, "N", "otto")]


def test_a_page_is_not_fetched_for_whoever_had_too_many(
    editor: User, other: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PAGE_FETCHER = f"{__name__}.fetch_nothing"
    monkeypatch.setattr(fetches, "MOST_AN_HOUR", 2)
    url = "https://paper.example/story"
    with time_machine.travel(NOON, tick=False) as clock:
        assert fetches.fetch("https://mara:secret@paper.example/story", user=editor) == f"nothing of {url}"
        clock.shift(600)
        fetches.fetch(url, user=editor)
        clock.shift(600)
        assert refused(lambda: fetches.fetch(url, user=editor), fetches.FetchError) == (
            "You had 2 pages fetched in the last hour; at most 2 are. Try again at 13:00, or paste the text."
        )
        assert fetches.fetch(url, user=other) == f"nothing of {url}"
        clock.shift(2_400)  # an hour after the first one
        fetches.fetch(url, user=editor)
        rows = PageFetch.objects.order_by("pk").values_list("user", "url", "fetched_at")
        minutes = [(user, seen, (at - NOON).total_seconds() / 60) for user, seen, at in rows]
        assert minutes == [(editor.pk, url, 0), (editor.pk, url, 10), (other.pk, url, 20), (editor.pk, url, 60)]
        clock.shift(86_400)
        assert refused(lambda: fetches.fetch(f"{url}/gone", user=editor), fetches.FetchError) == "It is gone."
        kept = list(PageFetch.objects.filter(user=editor).order_by("pk").values_list("url", flat=True))
        assert kept == [url, f"{url}/gone"]  # a day is kept


def fetch_nothing(url: str, rule: object) -> str:
    if url.endswith("gone"):
        raise ValueError("It is gone.")
    assert rule is not None
    return f"nothing of {url}"
