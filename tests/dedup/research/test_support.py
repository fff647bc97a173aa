"""Whether answers support what a new model changes, and which way it moves."""

import pytest

from dedup.research.lessons import Support, directions, support_of


@pytest.mark.parametrize(
    ("new_right", "old_right", "is_enough", "missing"),
    # By the exact binomial test: 5 of 5, 7 of 8, 9 of 11 and 59 of 100 have a chance of at most 5% if both are as good.
    [
        *((0, 0, False, 5), (4, 0, False, 1), (5, 0, True, 0), (0, 1, False, 7), (6, 1, False, 1), (7, 1, True, 0)),
        *((9, 2, True, 0), (58, 42, False, 2), (59, 41, True, 0)),
    ],
)
def test_a_model_needs_more_right_changes_than_chance_gives(
    new_right: int, old_right: int, is_enough: bool, missing: int
) -> None:
    support = Support(new_right, old_right)
    assert (support.is_enough, support.missing) == (is_enough, missing)


def test_answers_count_where_one_verdict_alone_agrees_with_them() -> None:
    answers = [
        ("V", "version", "similar", 1.0),  # the old one is right
        ("E", "version", "similar", 1.0),  # the new one
        ("N", "version", "similar", 1.0),  # no duplicate, says the editor: both agree
        ("N", "duplicate", "similar", 1.0),
        ("D", "version", "template", 1.0),  # neither is right
    ]
    assert support_of(answers) == Support(2, 1, 2)
    assert support_of([]) == Support()
    assert Support(1, 2, 3) + Support(10, 20, 30) == Support(11, 22, 33)


def test_answers_of_unlike_weight_count_as_fewer() -> None:
    assert support_of([("D", "version", "duplicate", 7.0)] * 6) == Support(6, 0, 0)
    few = [("D", "version", "duplicate", 100.0)] + [("D", "version", "duplicate", 1.0)] * 9
    assert support_of(few) == Support(1, 0, 0)
    assert support_of([*few, ("V", "version", "duplicate", 100.0)]) == Support(1, 1, 0)


def test_the_direction_is_said_in_words_and_each_move_once() -> None:
    assert directions({("version", "similar"): 3033, ("template", "similar"): 1}) == [
        "It finds fewer versions: 3,033 versions would become merely similar.",
        "It finds fewer templates: 1 template would become merely similar.",
    ]
    assert directions({("version", "duplicate"): 458, ("similar", "duplicate"): 1, ("duplicate", "version"): 8}) == [
        (
            "It finds more duplicates: 458 versions would become duplicates, 8 duplicates would become versions, "
            "1 merely similar pair would become a duplicate."
        ),
        "It finds fewer versions, too.",
    ]
    assert directions({}) == []
