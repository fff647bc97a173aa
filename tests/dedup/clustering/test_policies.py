"""Which articles of a cluster leave a corpus, by hand and on random clusters; and which one a rule keeps."""

import datetime
import random

import pytest

from dedup.detection.clustering.policies import RULES, Member, Policy, Reason, Removal, kept_by, removals

NOON = datetime.datetime(2026, 3, 3, 12, tzinfo=datetime.UTC)


def member(pk: int, newspaper: int, day: int, at: datetime.datetime | None = None) -> Member:
    return Member(pk, newspaper, datetime.date(2026, 3, day), at)


OTHER = "other newspaper"
# Two newspapers; the second one has it twice on one day, and the first again on the next.
CLUSTER = [member(1, 7, 2), member(2, 8, 2), member(3, 8, 2), member(4, 7, 3)]


@pytest.mark.parametrize(
    ("policy", "kept", "expected"),
    [
        ("keep-all", 1, []),
        ("one-per-cluster", 1, [(2, OTHER, 1), (3, OTHER, 1), (4, "same newspaper, later day", 1)]),
        ("one-per-cluster", 3, [(1, OTHER, 3), (2, "same newspaper, same day", 3), (4, OTHER, 3)]),
        # The one that represents the cluster is not in the corpus: the first one that is represents it there.
        ("one-per-cluster", 9, [(2, OTHER, 1), (3, OTHER, 1), (4, "same newspaper, later day", 1)]),
        ("keep-syndication", 1, [(3, "same newspaper, same day", 2), (4, "same newspaper, later day", 1)]),
        ("keep-syndication", 4, [(1, "same newspaper, earlier day", 4), (3, "same newspaper, same day", 2)]),
        ("drop-all-copies", 1, [(number, "has copies", None) for number in (1, 2, 3, 4)]),
    ],
)
def test_what_leaves(policy: str, kept: int, expected: list[tuple[int, str, int | None]]) -> None:
    found = removals(Policy(policy), CLUSTER, kept)
    assert sorted(found) == [Removal(article, Reason(reason), other) for article, reason, other in expected]


def test_the_time_decides_which_of_a_day_is_first() -> None:
    early = NOON - datetime.timedelta(hours=3)
    [removal] = removals(Policy.ONE_PER_CLUSTER, [member(1, 7, 3, NOON), member(2, 7, 3, early)], kept=9)
    assert removal == Removal(1, Reason.SAME_DAY, 2)


def test_what_leaves_is_listed_in_the_order_of_publication() -> None:
    turned = [member(1, 7, 4), member(2, 7, 3), member(3, 7, 2, NOON)]
    assert [removal.article for removal in removals(Policy.DROP_ALL_COPIES, turned, 1)] == [3, 2, 1]
    assert [removal.article for removal in removals(Policy.ONE_PER_CLUSTER, turned, 1)] == [3, 2]


def test_what_every_policy_promises() -> None:
    seed = 13
    print(f"seed {seed}")
    numbers = random.Random(seed)
    assert set(RULES) == set(Policy)
    for _ in range(200):
        members = [member(pk, numbers.randrange(4), numbers.randrange(1, 5)) for pk in range(numbers.randrange(12))]
        kept = numbers.randrange(14)
        newspaper = {article.pk: article.newspaper_id for article in members}
        for policy in Policy:
            found = removals(policy, members, kept)
            gone = {removal.article for removal in found}
            assert len(found) == len(gone)
            assert gone <= newspaper.keys()
            assert removals(policy, members[::-1], kept) == found
            left = newspaper.keys() - gone
            assert found == [] or (len(members) > 1 and policy is not Policy.KEEP_ALL)
            for removal in found:
                assert removal.represented_by is None or removal.represented_by in left
            if policy is Policy.ONE_PER_CLUSTER:
                assert left == ({kept} if kept in newspaper else left)
                assert len(left) == min(len(members), 1)
            if policy is Policy.KEEP_SYNDICATION:
                assert sorted(newspaper[article] for article in left) == sorted(set(newspaper.values()))
                assert kept in left or kept not in newspaper
            if policy is Policy.DROP_ALL_COPIES:
                assert not left or len(members) == 1


def test_the_rule_chooses_the_article_to_keep() -> None:
    own = member(1, 1, 3)._replace(characters=900)
    early = member(2, 1, 2)._replace(characters=300)
    wire = member(3, 2, 3, NOON)._replace(agency="AFP", characters=400)
    copy = member(4, 1, 3, NOON - datetime.timedelta(hours=1))._replace(agency="AFP", characters=900)
    every = [own, early, wire, copy]

    assert [kept_by(rule, every) for rule in ("earliest", "agency", "longest")] == [2, 4, 1]
    assert kept_by("agency", [own, early]) == 2
