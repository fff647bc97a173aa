"""`manage.py make_editor`: logins for the two roles."""

import io
import re

import pytest
from django.contrib.auth import authenticate, get_user_model
from django.core.management import call_command
from django.test import RequestFactory

pytestmark = pytest.mark.django_db


def make_editor(*arguments: str) -> str:
    output = io.StringIO()
    call_command("make_editor", *arguments, stdout=output)
    return re.fullmatch(r"Login: \w+   Password: (\S{16})\n", output.getvalue())[1]


def test_an_editor_decides_and_does_not_configure() -> None:
    password = make_editor("anna")
    user = authenticate(RequestFactory().post("/login/"), username="anna", password=password)
    assert user.has_perms(["dedup.add_decision", "dedup.view_pair", "articles.view_article"])
    assert not user.has_perm("dedup.change_profile")
    assert not user.has_perm("dedup.add_detectionrun")
    assert not user.is_staff


def test_an_admin_configures_and_decides_but_deletes_no_article() -> None:
    make_editor("anna", "--admin")
    user = get_user_model().objects.get()
    assert user.has_perms(
        ["dedup.add_decision", "dedup.change_profile", "articles.change_newspaper", "dedup.add_detectionrun"]
    )
    assert not user.has_perm("articles.delete_article")
    assert not user.has_perm("dedup.delete_pair")
    assert user.is_staff


def test_made_again_the_old_password_no_longer_works() -> None:
    first = make_editor("anna")
    second = make_editor("anna")
    user = get_user_model().objects.get()
    assert not user.check_password(first)
    assert user.check_password(second)
