"""The inputs of the benchmark of dense groups: each is made alike every time, and is what its name says."""

import pytest

from benchmarks import dense


@pytest.mark.parametrize("name", list(dense.INPUTS))
def test_the_texts_are_the_same_every_time(name: str) -> None:
    make = dense.INPUTS[name].texts
    assert list(make(20)) == list(make(20))


@pytest.mark.parametrize(("name", "distinct"), [("near-5000", 20), ("equal-20000", 1), ("lines-100000", 20)])
def test_texts_are_equal_or_different_as_the_name_says(name: str, distinct: int) -> None:
    assert len(set(dense.INPUTS[name].texts(20))) == distinct


def test_the_articles_of_an_input_are_of_one_day_and_of_several_newspapers() -> None:
    rows = list(dense.rows(dense.INPUTS["near-1000"]._replace(articles=25)))
    assert {row.date for row in rows} == {dense.DAY}
    assert len({row.newspaper for row in rows}) == dense.NEWSPAPERS
    assert len({row.url for row in rows}) == 25
