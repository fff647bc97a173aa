"""Who looks at the pages."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import make_user


@pytest.fixture
def editor(db: None) -> User:
    return make_user("mara", "editor")


@pytest.fixture
def editor_client(editor: User) -> Client:
    """Return the client of an editor."""
    client = Client()
    client.force_login(editor)
    return client


@pytest.fixture
def visitor(db: None) -> Client:
    """Return the client of somebody who may look and not decide."""
    client = Client()
    client.force_login(make_user("guest", "viewer"))
    return client
