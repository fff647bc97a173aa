"""Who looks at the pages."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import make_user
from tests.pages import logged_in


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
    return logged_in(make_user("ada", "admin", is_staff=True))


@pytest.fixture
def editor_client(editor: User) -> Client:
    """Return the client of an editor."""
    return logged_in(editor)


@pytest.fixture
def visitor(db: None) -> Client:
    """Return the client of somebody who may look and not decide."""
    return logged_in(make_user("guest", "viewer"))
