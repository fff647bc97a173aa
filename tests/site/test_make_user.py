"""`manage.py make_user` and `make_editor`: logins from the command line."""

import io
import re
from pathlib import Path

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import authenticate, get_user_model
from django.core.management import CommandError, call_command
from django.test import RequestFactory

from newsdedup_site.people.actions import role_of
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def make_editor(*arguments: str, command: str = "make_editor") -> str:
    output = io.StringIO()
    call_command(command, *arguments, stdout=output)
    return re.fullmatch(r"Login: \w+   Password: (\S{16})\n", output.getvalue())[1]


@pytest.mark.parametrize("role", ["viewer", "editor", "admin"])
def test_a_login_gets_any_role_and_the_log_says_so(role: str) -> None:
    make_editor("anna", "--role", role, command="make_user")
    make_editor("anna", "--role", "viewer", "--reset", command="make_user")
    user = get_user_model().objects.get()
    assert (role_of(user), user.is_staff) == ("viewer", False)
    assert list(LogEntry.objects.order_by("pk").values_list("change_message", flat=True)) == [
        f"was added on the command line, with the role {role}.",
        "got a new password on the command line, with the role viewer.",
    ]


def test_a_reset_does_not_unblock_and_says_so() -> None:
    make_user("anna", "editor", is_active=False)
    output = io.StringIO()
    call_command("make_editor", "anna", "--reset", stdout=output)
    assert output.getvalue().endswith("\nanna is blocked and cannot log in until an admin unblocks them.\n")
    assert not get_user_model().objects.get().is_active


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


def test_reset_the_old_password_no_longer_works_and_the_role_is_the_new_one() -> None:
    first = make_editor("anna")
    second = make_editor("anna", "--admin", "--reset")
    user = get_user_model().objects.get()
    assert not user.check_password(first)
    assert user.check_password(second)
    assert list(user.groups.values_list("name", flat=True)) == ["admin"]


def test_a_user_who_is_there_is_left_as_they_are() -> None:
    password = make_editor("anna", "--admin")
    with pytest.raises(CommandError, match=r"user 'anna' .*; .*--reset .*role editor"):
        make_editor("anna")
    user = get_user_model().objects.get()
    assert user.check_password(password)
    assert list(user.groups.values_list("name", flat=True)) == ["admin"]


def test_reset_makes_a_user_who_is_not_there() -> None:
    make_editor("anna", "--reset")
    assert get_user_model().objects.get().username == "anna"


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("anna b", "Enter a valid username. This value may contain only letters, numbers, and @/./+/-/_ characters."),
        ("", "This field cannot be blank."),
        ("a" * 151, "Ensure this value has at most 150 characters (it has 151)."),
    ],
)
def test_a_name_that_cannot_be_one_is_refused(name: str, fault: str) -> None:
    with pytest.raises(CommandError) as refusal:
        call_command("make_editor", name)
    assert str(refusal.value).startswith(repr(name))
    assert str(refusal.value).endswith(f": {fault}")
    assert not get_user_model().objects.exists()


def test_a_name_is_kept_in_the_form_that_the_login_page_compares() -> None:
    make_editor("a\ufb01")  # the ligature fi
    assert get_user_model().objects.get().username == "afi"


def test_the_demo_may_be_started_again() -> None:
    script = (Path(__file__).resolve().parents[2] / "script" / "demo").read_text()
    arguments = re.search(r"^manage make_editor (.+)$", script, re.MULTILINE)[1].split()
    assert make_editor(*arguments) != make_editor(*arguments)
