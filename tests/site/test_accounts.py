"""Logging in and out, and changing the password."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.factories import PASSWORD, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def editor() -> User:
    return make_user("mara", "editor")


def test_login_and_logout(client: Client, editor: User) -> None:
    account = {"username": "mara", "password": PASSWORD}
    assert client.post("/login/", {**account, "next": "/queue/"})["Location"] == "/queue/"
    assert client.post("/logout/")["Location"] == "/login/"
    assert client.get("/queue/").status_code == 302
    assert client.post("/login/", {**account, "next": "https://evil.example/"})["Location"] == "/"


def test_a_wrong_password_is_told(client: Client, editor: User) -> None:
    answer = client.post("/login/", {"username": "mara", "password": "wrong"})

    assert "Please enter a correct username and password" in answer.content.decode()


def test_the_password_can_be_changed(client: Client, editor: User) -> None:
    client.force_login(editor)
    new = {"old_password": PASSWORD, "new_password1": "another-long-one", "new_password2": "another-long-one"}

    assert client.post(reverse("password_change"), new)["Location"] == "/password/done/"
    editor.refresh_from_db()
    assert editor.check_password("another-long-one")
    assert client.get("/password/done/").status_code == 200
