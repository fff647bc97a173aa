"""The benchmark of the pages: what it stores, and that it asks for pages that are there."""

import pytest
from django.test import Client

from benchmarks import archive, pages
from dedup.models import Cluster, Decision, DenseGroup, Evidence, OpenQuestion, Pair, SecondReading, Series
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.mark.slow
def test_the_pages_of_a_filled_archive_are_measured() -> None:
    archive.fill(120, 1_200)
    assert Pair.objects.count() == 110 * archive.NEAREST + sum(range(archive.NEAREST))
    assert Evidence.objects.count() == Pair.objects.count() * 3 // 2
    decided = Pair.objects.count() // archive.PAIRS_A_DECISION
    assert (Decision.objects.count(), SecondReading.objects.count()) == (decided, decided // 20)
    assert 15 < Cluster.objects.count() < 25
    assert OpenQuestion.objects.exists()
    assert (Series.objects.count(), DenseGroup.objects.count()) == (3, 1)
    client = Client()
    client.force_login(make_user("mara", "editor"))
    for name, address in (pages.addresses() | pages.filtered_addresses()).items():
        assert pages.of_address(client, name, address, repeat=1).queries > 0, name
    assert len(pages.decisions(client, 3).milliseconds) == 3
    assert Decision.objects.count() == decided + 3
