"""The picture of the packages is the one that the code gives."""

from tests.packages_picture import PICTURE, _without_implied, draw


def test_the_picture_is_up_to_date() -> None:
    assert PICTURE.read_text(encoding="utf-8") == draw(), "the packages have changed: run script/draw-packages"


def test_an_arrow_that_others_imply_is_left_out() -> None:
    edges = {("views", "review"), ("review", "models"), ("views", "models"), ("models", "types"), ("views", "types")}
    assert _without_implied(edges) == {("views", "review"), ("review", "models"), ("models", "types")}
