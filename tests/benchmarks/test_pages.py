"""The benchmark of the pages: what it stores, and that it asks for pages that are there."""

import pytest
from django.test import Client

from dedup.models import Cluster, Decision, Evidence, Pair
from tests.benchmarks import pages
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def test_the_pages_of_a_filled_archive_are_measured() -> None:
    pages.fill(120)
    assert Pair.objects.count() == 110 * pages.PAIRS_EACH + sum(range(pages.PAIRS_EACH))
    assert Evidence.objects.count() == Pair.objects.count() * 3 // 2
    assert (Cluster.objects.count(), Decision.objects.count()) == (20, 2)
    client = Client()
    client.force_login(make_user("mara", "editor"))
    for name, address in pages.addresses().items():
        assert pages.measured(name, lambda address=address: client.get(address), repeat=1).queries > 0, name
    assert len(pages.decisions(client, 3).milliseconds) == 3
    assert Decision.objects.count() == 2 + 4
