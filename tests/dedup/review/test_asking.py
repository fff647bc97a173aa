"""What editors are asked: the tabs of the queue, the next question and its lease, rows and cards; and their pace."""

import datetime
import re

import pytest
import time_machine
from django.contrib.auth.models import User
from django.utils import timezone

from articles.models import Article
from dedup.models import Lease, OpenQuestion, Pair, Postponement
from dedup.research.lessons import answers_missing
from dedup.review.answers import batches, decisions
from dedup.review.answers.decisions import seen_as
from dedup.review.answers.history import pace, progress_of, sitting
from dedup.review.queries.lists import PairSelection
from dedup.review.questions.cards import Row, card_of, rows_of_tab
from dedup.review.questions.tabs import (
    CHANGES,
    DEFAULT,
    DISAGREEMENTS,
    SAMPLE,
    SECOND,
    TABS,
    Question,
    give_back,
    next_question,
    put_off,
    question_of,
    read_questions,
    reader_of,
    tab_counts,
    tab_named,
    take_lease,
    without,
    write_questions,
)
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_pair

pytestmark = pytest.mark.django_db
NOON = datetime.datetime(2026, 3, 2, 12, 0, tzinfo=datetime.UTC)


def of_pair(pair: Pair) -> Question:
    return Question("pair", pair.pk)


# ---- tabs ----


def test_every_tab_says_what_it_lists_and_what_an_empty_one_means() -> None:
    for tab in TABS.values():
        assert re.fullmatch("[A-Z][a-z ]+", tab.label)
        for sentences in (tab.explains, tab.empty):
            assert re.fullmatch(r"[A-Z][a-z].*[a-z]\.", sentences)
    assert len({tab.label for tab in TABS.values()}) == len(TABS)
    stored = ["informative", "certain", "clusters", "conflicts"]
    assert list(TABS) == [*stored, "later", DISAGREEMENTS, SECOND, SAMPLE, CHANGES]
    assert list(TABS) == [tab.name for tab in TABS.values()]
    flags = {name: [tab.name for tab in TABS.values() if getattr(tab, name)] for name in ("blind", "quiet", "keeps")}
    assert flags == {"blind": [SECOND], "quiet": [SAMPLE, CHANGES], "keeps": [DISAGREEMENTS, SECOND, SAMPLE, CHANGES]}
    assert [tab.name for tab in TABS.values() if not tab.cards] == [DISAGREEMENTS, SECOND, CHANGES]
    assert [tab_named(name).name for name in ("clusters", "nonsense", "", None)] == ["clusters", *[DEFAULT] * 3]
    assert DEFAULT == "informative"


def test_the_counts_of_the_tabs_are_those_of_their_rows_without_what_this_user_put_off(
    store: StoreArticle, doubtful: list[Pair], editor: User, other: User
) -> None:
    cluster = make_cluster(*(store() for _ in range(3)), score=0.95)
    make_cluster(store(), store(), score=0.95)
    apart = make_pair(store(), store(), trigram=0.99)  # judged duplicates that are in no cluster

    def counted(user: User) -> dict[str, int]:
        counts = tab_counts(user)
        rows = {name: tab.rows(user).count() for name, tab in TABS.items()}
        assert counts == rows
        assert {name: tab.count(user) for name, tab in TABS.items()} == counts
        return {name: number for name, number in counts.items() if number}

    every = counted(editor)
    assert every == {"informative": 4, "certain": 2, "clusters": 1, "conflicts": 1}
    put_off(of_pair(doubtful[0]), editor)
    put_off(Question("cluster", cluster.pk), editor)
    assert counted(editor) == {"informative": 3, "certain": 1, "conflicts": 1, "later": 2}
    put_off(of_pair(apart), editor)
    assert counted(editor) == {"informative": 2, "certain": 1, "later": 3}
    assert counted(other) == every
    decisions.decide_pair(doubtful[0].pk, "confirm", user=other)
    assert counted(editor)["later"] == 2
    batches.begin("confirm", pairs=[pair.pk for pair in doubtful], sample=20, user=editor)
    assert counted(editor)["sample"] == 2
    assert "sample" not in counted(other)


def test_the_questions_of_a_tab_come_in_its_order(store: StoreArticle, doubtful: list[Pair], editor: User) -> None:
    small, large = (make_cluster(*(store() for _ in range(size)), score=0.95) for size in (3, 4))
    first, second, _ = doubtful
    listed = lambda name: [question_of(row) for row in TABS[name].rows(editor)]  # noqa: E731
    assert [question for question in listed("informative") if question.kind == "pair"] == [
        of_pair(pair) for pair in doubtful
    ]
    assert listed("clusters") == [Question("cluster", large.pk), Question("cluster", small.pk)]
    with time_machine.travel(NOON, tick=False) as clock:
        for question in (of_pair(second), Question("cluster", small.pk), of_pair(first)):
            put_off(question, editor)
            clock.shift(1)
        assert listed("later") == [of_pair(second), Question("cluster", small.pk), of_pair(first)]
        put_off(of_pair(second), editor)  # behind the others again
        assert listed("later") == [Question("cluster", small.pk), of_pair(first), of_pair(second)]
    Pair.objects.filter(pk=first.pk).update(best_score=0)
    OpenQuestion.objects.filter(cluster=small).delete()
    assert listed("later") == [of_pair(second)]


def test_a_tab_is_narrowed_to_pairs_and_to_the_clusters_that_have_them_inside(
    store: StoreArticle, doubtful: list[Pair], editor: User
) -> None:
    cluster = make_cluster(*(store() for _ in range(3)), score=0.8)
    inside = Pair.objects.filter(left__membership__cluster=cluster).first()
    assert inside is not None
    tab = TABS["informative"]
    wanted = Pair.objects.filter(pk__in=[doubtful[1].pk, inside.pk])
    found = {question_of(row) for row in tab.matching(editor, PairSelection(wanted))}
    assert found == {of_pair(doubtful[1]), Question("cluster", cluster.pk)}
    assert tab.matching(editor, None).count() == 4
    assert not tab.matching(editor, PairSelection(Pair.objects.none())).exists()


def test_what_was_skipped_is_left_out(store: StoreArticle, doubtful: list[Pair], editor: User) -> None:
    cluster = make_cluster(*(store() for _ in range(3)), score=0.8)
    rows = TABS["informative"].rows(editor)

    def left(*skipped: Question) -> set[Question]:
        return {question_of(row) for row in without(rows, skipped, cards=True)}

    every = {*map(of_pair, doubtful), Question("cluster", cluster.pk)}
    assert left() == every
    assert left(of_pair(doubtful[0]), of_pair(doubtful[2])) == {of_pair(doubtful[1]), Question("cluster", cluster.pk)}
    assert left(Question("cluster", cluster.pk)) == set(map(of_pair, doubtful))
    # The number of a cluster may be that of a pair.
    assert left(Question("cluster", doubtful[0].pk + 10_000)) == every


# ---- how addresses write questions ----


def test_questions_are_written_into_addresses_and_read_back() -> None:
    some = [Question("pair", 12), Question("cluster", 7)]
    assert write_questions(some) == "p12,c7"
    assert read_questions("p12,c7") == some
    assert read_questions("x,p,c-1,p12x,12, p3,c007,p" + "9" * 19) == [Question("cluster", 7)]
    assert read_questions("") == []
    assert write_questions([]) == ""
    assert [(question.address, question.key) for question in some] == [
        ("/pairs/12/", {"pair_id": 12}),
        ("/clusters/7/card/", {"cluster_id": 7}),
    ]


# ---- the next question and its lease ----


def test_the_next_question_is_the_first_that_nobody_else_reads(doubtful: list[Pair], editor: User, other: User) -> None:
    first, second, third = map(of_pair, doubtful)
    with time_machine.travel(NOON, tick=False) as clock:
        assert next_question(editor) == first
        assert next_question(editor) == first
        assert next_question(other) == second
        assert next_question(other, skip=[second]) == third
        assert next_question(editor, skip=[first]) is None
        assert next_question(editor, skip=[first], lease=False) == second
        assert next_question(editor, skip=[first, second, third], lease=False) is None
        assert [reader_of(pair, editor) for pair in (first, second)] == [None, other]
        clock.shift(119)
        assert not take_lease(first, other)
        assert take_lease(first, editor)  # renewed
        clock.shift(1)
        assert reader_of(second, editor) is None  # two minutes
        assert take_lease(second, editor)
        clock.shift(118)
        assert not take_lease(first, other)
        clock.shift(1)
        assert take_lease(first, other)
        give_back(first, editor)  # it is not theirs any more
        assert reader_of(first, editor) == other
        give_back(first, other)
        assert not Lease.objects.filter(pair=first.number).exists()


def test_a_cluster_has_a_lease_of_its_own(store: StoreArticle, editor: User, other: User) -> None:
    cluster = make_cluster(*(store() for _ in range(3)), score=0.95)
    card = Question("cluster", cluster.pk)
    assert next_question(editor, "clusters") == card
    assert next_question(other, "clusters") is None
    assert next_question(other, "clusters", lease=False) == card
    assert reader_of(card, other) == editor
    put_off(card, editor)
    assert not Lease.objects.exists()
    assert next_question(editor, "clusters") is None
    assert next_question(other, "clusters") == card
    assert next_question(editor, "later") is None  # the other reads it
    assert list(Postponement.objects.values_list("user", "pair", "cluster")) == [(editor.pk, None, cluster.pk)]


# ---- rows ----


def test_rows_have_their_pair_or_their_cluster_in_the_order_of_the_questions(
    store: StoreArticle, doubtful: list[Pair], editor: User
) -> None:
    cluster = make_cluster(store(), store(newspaper="Coast Telegraph"), store(), score=0.95)
    decisions.confirm_cluster(cluster.pk, seen_as(cluster.memberships.values_list("article", flat=True)), user=editor)
    put_off(Question("cluster", cluster.pk), editor)
    questions = [of_pair(doubtful[2]), Question("cluster", cluster.pk), of_pair(doubtful[0])]

    class Asked:
        def __init__(self, question: Question) -> None:
            self.pair_id = question.number if question.kind == "pair" else None
            self.cluster_id = question.number if question.kind == "cluster" else None

    rows = rows_of_tab(map(Asked, questions))
    assert [(row.question, row.pair, row.cluster, row.newspapers) for row in rows] == [
        (questions[0], doubtful[2], None, 0),
        (questions[1], None, cluster, 2),
        (questions[2], doubtful[0], None, 0),
    ]
    gone = Question("cluster", 0)
    assert rows_of_tab([Asked(gone)]) == [Row(gone)]
    decided = Pair(state="confirmed", implied=True)
    assert Row(questions[0], pair=decided).as_undecided().pair is decided
    assert (decided.state, decided.implied) == ("undecided", False)


# ---- cards ----


SAME = "The ferry pier closes in May for repairs that take the whole summer."


@pytest.fixture
def copies(store: StoreArticle) -> list[Article]:
    """Return copies of one text, another wording of it, and another text, each of its own day."""
    texts = (SAME, SAME.replace("May", "early May"), "A choir sings at the quay tonight.", SAME, SAME)
    return [
        store(text, date=f"2026-03-0{day}", newspaper=("A", "B")[day % 2], headline="Pier closed")
        for day, text in zip((3, 4, 5, 2, 6), texts, strict=True)
    ]


def test_a_card_folds_equal_texts_and_puts_the_kept_article_first(copies: list[Article], editor: User) -> None:
    cluster = make_cluster(*copies, score=0.95)
    decisions.keep_article(cluster.pk, copies[0].pk, user=editor)
    cluster.refresh_from_db()
    card = card_of(cluster)
    assert card.seen.rpartition("_")[0] == seen_as([copied.pk for copied in copies])
    assert (card.newspapers, card.left_out, card.doubts) == (2, 0, [])
    # The kept one first, then by publication.
    assert [copied.article for copied in card.kept.copies] == [copies[0], copies[3], copies[4]]
    assert (card.kept.number, card.kept.more, card.kept.words) == (3, 0, 13)
    assert [[copied.article for copied in text.copies] for text in card.others] == [[copies[1]], [copies[2]]]
    assert [text.words for text in card.others] == [14, 7]
    assert all(copied.same_headline for text in (card.kept, *card.others) for copied in text.copies)


def test_a_card_shows_some_texts_and_some_copies_and_counts_the_others(
    copies: list[Article], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dedup.review.questions.cards.TEXTS_SHOWN", 1)
    monkeypatch.setattr("dedup.review.questions.cards.COPIES_SHOWN", 2)
    card = card_of(make_cluster(*copies, score=0.95))
    assert (len(card.kept.copies), card.kept.more, card.kept.number) == (2, 1, 3)
    assert (len(card.others), card.left_out) == (1, 1)


def test_a_card_of_plain_copies_says_in_which_headlines_they_differ(store: StoreArticle) -> None:
    made = [store(SAME, newspaper=name, headline=head) for name, head in (("A", "Pier"), ("B", "Pier"), ("C", "Ferry"))]
    card = card_of(make_cluster(*made, score=0.95))
    assert card.doubts == []
    assert [copied.same_headline for copied in card.kept.copies] == [True, True, False]
    assert [(segment.text, segment.kind) for segment in card.kept.copies[2].headline if segment.text.strip()] != []


AFTERNOON = datetime.datetime(2026, 3, 2, 15, 0, tzinfo=datetime.UTC)


def minutes_ago(*numbers: float) -> list[datetime.datetime]:
    return [AFTERNOON - datetime.timedelta(minutes=number) for number in numbers]


def test_a_sitting_ends_with_a_pause_and_its_pace_needs_five_answers_in_a_minute_or_more() -> None:
    times = minutes_ago(1, 2, 31, 32, 63, 64)
    assert list(sitting(times, AFTERNOON)) == minutes_ago(1, 2, 31, 32)
    assert sitting(minutes_ago(31), AFTERNOON) == []
    assert sitting([], AFTERNOON) == []

    assert pace(minutes_ago(1, 2, 3, 4, 5)) == 60
    assert pace(minutes_ago(0, 1.5, 3)) is None
    assert pace(minutes_ago(0, 0.1, 0.2, 0.3, 0.4)) is None


def test_undone_answers_do_not_count_and_the_model_needs_five_of_each(
    store: StoreArticle, editor: User, other: User, django_assert_num_queries
) -> None:
    pairs = [make_pair(store(), store(newspaper="Coast Telegraph"), trigram=0.9) for _ in range(9)]
    assert answers_missing() == 10
    for number, pair in enumerate(pairs):
        decisions.decide_pair(pair.pk, "confirm" if number < 6 else "template", user=editor)
    last = decisions.decide_pair(pairs[0].pk, "reject", user=editor)
    decisions.undo(last.pk, user=editor)
    with django_assert_num_queries(1):
        found = progress_of(editor, 40)
    # Just after midnight, some of them are of yesterday.
    assert found.today == 9 or timezone.localtime().hour == 0
    assert (found.sitting, found.missing, found.an_hour) == (9, 2, None)
    assert progress_of(other, 40).sitting == 0
