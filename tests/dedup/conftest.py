"""Who looks at the pages, and what is asked on them."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dedup.models import Pair
from tests.conftest import StoreArticle
from tests.factories import client_of, make_pair, make_user


@pytest.fixture
def editor(db: None) -> User:
    return make_user("mara", "editor")


@pytest.fixture
def other(db: None) -> User:
    """Return another editor."""
    return make_user("otto", "editor")


@pytest.fixture
def admin_client(db: None) -> Client:
    """Return the client of an admin."""
    return client_of(make_user("ada", "admin"))


@pytest.fixture
def editor_client(editor: User) -> Client:
    """Return the client of an editor."""
    return client_of(editor)


@pytest.fixture
def visitor(db: None) -> Client:
    """Return the client of somebody who may look and not decide."""
    return client_of(make_user("guest", "viewer"))


@pytest.fixture
def doubtful(store: StoreArticle) -> list[Pair]:
    """Return three pairs, the most informative first."""
    return [
        make_pair(store(), store(), verdict="version", probability=0.5, duplicate_probability=chance, trigram=0.6)
        for chance in (0.4, 0.3, 0.2)
    ]
