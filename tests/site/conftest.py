"""An admin, and the browser in which they are logged in."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.factories import client_of, make_user


@pytest.fixture
def ada(db: None) -> User:
    return make_user("ada", "admin")


@pytest.fixture
def mara(db: None) -> User:
    return make_user("mara", "editor")


@pytest.fixture
def staff(ada: User) -> Client:
    return client_of(ada)
