"""Users: made on the command line, changed in Django's admin by superusers, and logging in and out."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import authenticate, get_user_model
from django.contrib.auth.models import User
from django.core.management import CommandError
from django.test import Client, RequestFactory
from django.urls import reverse

from newsdedup_site.people.actions import role_of
from tests.commands import called
from tests.factories import PASSWORD, client_of, make_user
from tests.pages import text_of

pytestmark = pytest.mark.django_db
LIST = "/admin/auth/user/"
EVERYTHING = {
    "username": "anna", "is_active": "on", "is_staff": "on", "is_superuser": "on",
    "date_joined_0": "2026-03-02", "date_joined_1": "08:00:00",
}  # fmt: skip


def test_only_a_superuser_opens_django_s_admin(staff: Client) -> None:
    for address in (LIST, f"{LIST}add/", f"{LIST}{make_user('anna').pk}/change/"):
        assert staff.get(address).status_code == staff.post(address, EVERYTHING).status_code == 403


def test_a_superuser_makes_another(client: Client) -> None:
    client.force_login(User.objects.create_superuser("root"))
    anna = make_user("anna")
    assert 'name="user_permissions"' in text_of(client, f"{LIST}{anna.pk}/change/")
    assert client.post(f"{LIST}{anna.pk}/change/", EVERYTHING).status_code == 302
    anna.refresh_from_db()
    assert anna.is_superuser
    assert "root" in text_of(client, LIST)


def test_whom_a_superuser_deactivates_is_logged_out_for_good(client: Client) -> None:
    anna = make_user("anna", "viewer")
    browser = client_of(anna)
    client.force_login(User.objects.create_superuser("root"))
    posted = {name: value for name, value in EVERYTHING.items() if name not in ("is_active", "is_superuser")}
    assert client.post(f"{LIST}{anna.pk}/change/", posted).status_code == 302
    User.objects.filter(pk=anna.pk).update(is_active=True)
    assert browser.get("/articles/").status_code == 302


def test_login_logout_and_a_wrong_password(client: Client, mara: User) -> None:
    account = {"username": "mara", "password": PASSWORD}
    assert client.post("/login/", {**account, "next": "/queue/"})["Location"] == "/queue/"
    assert client.post("/logout/")["Location"] == "/login/"
    assert client.get("/queue/").status_code == 302
    assert client.post("/login/", {**account, "next": "https://evil.example/"})["Location"] == "/"
    answer = Client().post("/login/", {"username": "mara", "password": "wrong"})
    assert "Please enter a correct username and password" in answer.content.decode()


def test_the_password_can_be_changed(client: Client, mara: User) -> None:
    client.force_login(mara)
    new = {"old_password": PASSWORD, "new_password1": "another-long-one", "new_password2": "another-long-one"}

    assert client.post(reverse("password_change"), new)["Location"] == "/password/done/"
    mara.refresh_from_db()
    assert mara.check_password("another-long-one")
    assert client.get("/password/done/").status_code == 200


def make_editor(*arguments: str, command: str = "make_editor") -> str:
    return re.fullmatch(r"Login: \w+   Password: (\S{16})\n", called(command, *arguments)[0])[1]


@pytest.mark.parametrize(
    ("command", "options", "role"),
    [
        ("make_editor", [], "editor"),
        ("make_editor", ["--admin"], "admin"),
        *(("make_user", ["--role", role], role) for role in ("viewer", "editor", "admin")),
    ],
)
def test_a_login_has_its_role_and_the_log_says_so(command: str, options: list[str], role: str) -> None:
    password = make_editor("anna", *options, command=command)
    user = authenticate(RequestFactory().post("/login/"), username="anna", password=password)
    assert role_of(user) == role
    assert not any(user.has_perm(permission) for permission in ("articles.delete_article", "dedup.delete_pair"))
    assert user.has_perm("dedup.change_profile") == (role == "admin")
    new = make_editor("anna", "--role", "viewer", "--reset", command="make_user")
    user = get_user_model().objects.get()
    assert [group.name for group in user.groups.all()] == ["viewer"]
    assert (user.check_password(password), user.check_password(new)) == (False, True)
    assert list(LogEntry.objects.order_by("pk").values_list("change_message", flat=True)) == [
        f"was added on the command line, with the role {role}.",
        "got a new password on the command line, with the role viewer.",
    ]


def test_a_reset_does_not_unblock_and_says_so() -> None:
    make_user("anna", "editor", is_active=False)
    said, _ = called("make_editor", "anna", "--reset")
    assert said.endswith("\nanna is blocked and cannot log in until an admin unblocks them.\n")
    assert not get_user_model().objects.get().is_active


def test_a_user_who_is_there_is_left_as_they_are() -> None:
    password = make_editor("anna", "--admin")
    with pytest.raises(CommandError, match=r"user 'anna' .*; .*--reset .*role editor"):
        make_editor("anna")
    user = get_user_model().objects.get()
    assert user.check_password(password)
    assert list(user.groups.values_list("name", flat=True)) == ["admin"]


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
        called("make_editor", name)
    assert str(refusal.value).startswith(repr(name))
    assert str(refusal.value).endswith(f": {fault}")
    assert not get_user_model().objects.exists()


def test_a_name_is_kept_in_the_form_that_the_login_page_compares() -> None:
    make_editor("a\ufb01")  # the ligature fi
    assert get_user_model().objects.get().username == "afi"


def test_the_demo_may_be_started_again() -> None:
    arguments = ("demo", "--admin", "--reset")
    assert make_editor(*arguments) != make_editor(*arguments)
