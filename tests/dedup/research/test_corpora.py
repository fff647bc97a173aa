"""Models fitted on some corpora and judged on others, with features that were made up."""

import random

from dedup.research.answers import Answer, numbers_of
from dedup.research.corpora import answers_by, cross_table, fitted_on, learning_curve
from tests.dedup.research.made_up_rows import row


def sample(label: str, contained: float, *, days: int = 0, weight: float = 1.0, asked: bool = True) -> Answer:
    """Return a pair that the model in use thinks similar, or that no pass proposed."""
    known = ("similar", 0.2) if asked else (None, None)
    return Answer(label, weight, days, *known, row(contained), asked)


HALVES = [*(sample("D", 0.9) for _ in range(30)), *(sample("N", 0.1) for _ in range(30))]
OTHER = [
    *(sample("D", 0.8, weight=2.0) for _ in range(6)),
    *(sample("D", 0.95, asked=False) for _ in range(4)),
    *(sample("N", 0.2, days=9) for _ in range(8)),
    sample("T", 0.9, days=9),
    sample("V", 0.85),
]
VERSIONS = [sample("V", 0.5), sample("D", 0.9)]


def test_each_corpus_is_judged_by_models_of_the_others() -> None:
    table = cross_table({"halves": HALVES, "other": OTHER, "versions": VERSIONS})
    assert [(judged["model"], judged["fitted_on"]) for judged in table["other"]] == [
        ("in use", []),
        ("all others", ["halves", "versions"]),
        ("one other", ["halves"]),
        ("one other", ["versions"]),
        ("all, with its own", ["halves", "other", "versions"]),
    ]
    in_use, _, halves, versions, _ = table["other"]
    assert (in_use["all"]["verdict"]["recall"], in_use["all"]["verdict"]["precision"]) == (0.0, None)
    # 12 of 16 by weight are proposed; T is called a duplicate too, 1 of 13.
    verdict = halves["all"]["verdict"]
    assert (verdict["recall"], verdict["precision"], verdict["templates_called_duplicates"]) == (0.75, 0.9231, 1.0)
    assert halves["all"]["versions_as_negatives"]["precision"] == 0.8571
    near = halves["within_3_days"]["verdict"]
    assert (near["pairs"], near["recall"], near["precision"]) == (10, 0.75, 1)
    assert near["templates_called_duplicates"] is None
    assert (versions["all"], versions["within_3_days"]) == (None, None)
    assert versions["reason"].startswith("fitting needs at least one duplicate and one pair that is not")


def test_two_corpora_have_one_other_each_and_one_has_none() -> None:
    two = cross_table({"halves": HALVES, "other": OTHER})
    assert [judged["model"] for judged in two["halves"]] == ["in use", "all others", "all, with its own"]
    alone = cross_table({"halves": HALVES})["halves"]
    assert [judged["model"] for judged in alone] == ["in use", "all, with its own"]


def test_pairs_that_the_model_is_not_asked_about_keep_their_answer() -> None:
    ruled = Answer("D", 1.0, 0, "template", 0.0, row(1.0))
    unknown = Answer("D", 1.0, 0, "similar", 0.3, asked=True)
    model = fitted_on([HALVES])
    assert answers_by(model, [ruled, unknown]) == [ruled, unknown]
    [changed] = answers_by(model, [sample("D", 0.9)])
    assert (changed.verdict, changed.label) == ("duplicate", "D")
    assert changed.probability == model.probabilities(row(0.9)).duplicate


def test_all_numbers_of_a_few_answers() -> None:
    numbers = numbers_of(
        [
            Answer("D", 3.0, 0, "duplicate", 0.95),
            Answer("D", 1.0, 0),
            Answer("V", 2.0, 0, "version", 0.25),
            Answer("V", 1.0, 0, "duplicate", 0.65),
            Answer("T", 1.0, 0, "version", 0.05),
        ]
    )
    assert (numbers["verdict"]["precision"], numbers["verdict"]["recall"]) == (1.0, 0.75)
    both = numbers["versions_as_negatives"]
    assert (both["precision"], both["recall"], both["f1"], both["pairs"]) == (0.75, 0.75, 0.75, 5)
    version = numbers["version_verdict"]
    assert (version["precision"], version["recall"], version["f1"]) == (0.6667, 0.6667, 0.6667)
    assert (version["versions"], version["called"]) == (2, 2)
    assert numbers["confusion"]["D"]["not_proposed"]["share"] == 0.25
    assert (numbers["confusion"]["V"]["weight"], numbers["confusion"]["V"]["duplicate"]["pairs"]) == (3.0, 1)
    assert (numbers["confusion"]["E"]["pairs"], numbers["confusion"]["E"]["version"]["share"]) == (0, None)
    left_out, counted = (numbers["calibration"][key] for key in ("versions_left_out", "versions_as_negatives"))
    assert (left_out["pairs"], counted["pairs"]) == (2, 4)
    assert (left_out["weighted"]["ece"], left_out["unweighted"]["ece"]) == (0.05, 0.05)
    assert counted["weighted"]["ece"] == round((3 * 0.05 + 2 * 0.25 + 0.65 + 0.05) / 7, 4)
    assert counted["unweighted"]["brier"] == round((0.05**2 + 0.25**2 + 0.65**2 + 0.05**2) / 4, 4)
    assert counted["weighted"]["bins"][2] == {
        "from": 0.2, "to": 0.3, "pairs": 1, "weight": 2.0, "mean_probability": 0.25, "duplicates": 0.0,
    }  # fmt: skip


# ---- the learning curve ------------------------------------------------------------------------------


def corpus(count: int, least: float, seed: int) -> list[Answer]:
    """Return pairs of which those that contain at least `least` are duplicates; a twentieth is not proposed."""
    dice = random.Random(seed)
    contained = [dice.random() for _ in range(count)]
    return [
        Answer("D" if share >= least else "N", 1.0, 0, "similar", 0.2, row(share), asked=bool(place % 20))
        for place, share in enumerate(contained)
    ]


CURVED = {"strict": corpus(160, 0.8, 1), "lenient": corpus(160, 0.4, 2)}


def test_decisions_help_where_the_others_are_stricter() -> None:
    curves = learning_curve(CURVED)
    lenient = curves["lenient"]
    # 152 pairs are proposed; at most three quarters of them are drawn.
    assert [(point["decisions"], point["draws"]) for point in lenient] == [(0, 1), (20, 10), (50, 10), (100, 10)]
    start, *later = lenient
    assert start["f1"] == start["f1_without"]
    for point in later:
        assert point["f1_change"]["least"] >= 0
        assert point["worse"] == 0
        assert point["f1"]["mean"] > point["f1_without"]["mean"] + 0.02
        assert sum(point["adjusted"].values()) == 10
    assert later[0]["adjusted"]["all coefficients"] == 0


def test_the_draws_are_the_same_every_time() -> None:
    assert learning_curve(CURVED) == learning_curve(CURVED)


def test_a_corpus_without_usable_others_has_no_curve() -> None:
    unlabelled = [Answer("V", 1.0, 0, features=row(0.5))]
    assert list(learning_curve({"strict": CURVED["strict"], "other": unlabelled})) == ["other"]
