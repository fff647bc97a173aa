"""The post pass: the same number in two URLs."""

from functools import partial

import pytest

from dedup.detection.passes.post import PostPass
from tests.dedup.passes import finding

pytestmark = pytest.mark.django_db
EXPLAINED = ({}, {"largest_group": 2})


def alike(group: int, copy: int) -> dict[str, str]:
    """Return what an article of a group has for this pass: a number in the URL, before other words."""
    return {"url": f"https://harbour.example/news/12345{group}-breakwater-closes-{copy}"}


pairs = partial(finding.pairs, PostPass())


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("/news/123456-bridge-closes", "/news/123456/bridge-to-close", True),
        ("/bridge-closes-235037", "/bridge-is-closed-235037", True),
        ("/top/bridge/155-277327", "/news/bridge-shut/108-277327", True),
        ("/?p=123456", "/bridge-closes/123456", True),
        ("/news/article289649.html", "/sport/article289649.html", True),
        ("/20251127/one-99887", "/20251126/other-99887", True),
        ("/news/20251127/bridge", "/news/20251127/ferry", False),
        ("/news/202511/bridge", "/news/202511/ferry", False),
        ("/news/202511270930-bridge", "/news/202511270930-ferry", False),
        ("/wd-020326-bridge", "/bs-020326-ferry", False),
        ("/wd-020323-bridge", "/bs-020323-ferry", True),
        ("/mill-gets-50000", "/ferry-costs-50000", False),
        ("/news/1234-bridge", "/news/1234-ferry", False),
        ("/bridge-12345ab", "/ferry-12345ab", False),
        ("/news/123456-bridge", "/news/1234567-bridge", False),
    ],
)
def test_the_longest_number_that_is_no_date_is_that_of_the_post(store, one: str, other: str, *, same: bool) -> None:
    for page in (one, other):
        store(date="2026-03-02", url=f"https://54321.example{page}")
    assert bool(pairs()) is same


def test_a_number_counts_in_its_newspaper(store) -> None:
    for copy, newspaper in enumerate(("Harbour Post", "Inland Courier")):
        store(newspaper=newspaper, **alike(0, copy))
    assert pairs() == set()
