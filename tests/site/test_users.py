"""The pages of users: the role `admin` gives roles, and neither makes nor touches a superuser."""

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from tests.factories import make_user

pytestmark = pytest.mark.django_db
LIST = "/admin/auth/user/"
EVERYTHING = {
    "username": "anna",
    "is_active": "on",
    "is_staff": "on",
    "is_superuser": "on",
    "date_joined_0": "2026-03-02",
}
EVERYTHING |= {"date_joined_1": "08:00:00"}


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(make_user("ada", "admin", is_staff=True))
    return client


def page(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def test_an_admin_gives_a_role_and_nothing_more(staff: Client) -> None:
    anna = make_user("anna")
    shown = page(staff, f"{LIST}{anna.pk}/change/")
    assert 'name="groups"' in shown
    assert 'name="is_superuser"' not in shown
    assert 'name="user_permissions"' not in shown
    posted = EVERYTHING | {
        "groups": [Group.objects.get(name="editor").pk],
        "user_permissions": [Permission.objects.get(codename="delete_user").pk],
    }
    answer = staff.post(f"{LIST}{anna.pk}/change/", posted)
    assert (answer.status_code, answer.headers["Location"]) == (302, LIST)
    anna.refresh_from_db()
    assert [group.name for group in anna.groups.all()] == ["editor"]
    assert (anna.is_staff, anna.is_superuser, anna.user_permissions.count()) == (True, False, 0)


def test_an_admin_adds_a_user_who_is_no_superuser(staff: Client) -> None:
    passwords = {"password1": "a-long-passphrase", "password2": "a-long-passphrase", "usable_password": "true"}
    assert staff.post(f"{LIST}add/", EVERYTHING | passwords).status_code == 302
    anna = User.objects.get(username="anna")
    assert (anna.is_staff, anna.is_superuser) == (False, False)


def test_an_admin_neither_sees_nor_changes_a_superuser(staff: Client) -> None:
    root = User.objects.create_superuser("root", password="before-the-attempt")
    assert "root" not in page(staff, LIST)
    for path in ("change", "history"):
        # To Django a user who is not among those of the list does not exist.
        assert staff.get(f"{LIST}{root.pk}/{path}/").headers["Location"] == "/admin/"
        assert staff.post(f"{LIST}{root.pk}/{path}/", EVERYTHING).headers["Location"] == "/admin/"
    passwords = {"password1": "a-long-passphrase", "password2": "a-long-passphrase", "usable_password": "true"}
    answer = staff.post(f"{LIST}{root.pk}/password/", passwords | {"set-password": "1"})
    assert answer.status_code == 404
    root.refresh_from_db()
    assert (root.username, root.check_password("before-the-attempt")) == ("root", True)


def test_a_superuser_makes_another(client: Client) -> None:
    client.force_login(User.objects.create_superuser("root"))
    anna = make_user("anna")
    assert 'name="user_permissions"' in page(client, f"{LIST}{anna.pk}/change/")
    assert client.post(f"{LIST}{anna.pk}/change/", EVERYTHING).status_code == 302
    anna.refresh_from_db()
    assert anna.is_superuser
    assert "root" in page(client, LIST)
