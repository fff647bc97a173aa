"""Users in the settings: superusers change them there; admins only look, and see no superuser."""

import pytest
from django.contrib.auth.models import User
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


def test_an_admin_sees_people_and_changes_them_elsewhere(staff: Client) -> None:
    anna = make_user("anna")
    assert "anna" in page(staff, LIST)
    shown = page(staff, f"{LIST}{anna.pk}/change/")
    assert 'name="groups"' not in shown
    assert staff.post(f"{LIST}{anna.pk}/change/", EVERYTHING).status_code == 403
    assert staff.get(f"{LIST}{anna.pk}/password/").status_code == 403
    assert staff.get(f"{LIST}add/").status_code == 403
    anna.refresh_from_db()
    assert (anna.is_staff, anna.is_superuser) == (False, False)


def test_an_admin_neither_sees_nor_changes_a_superuser(staff: Client) -> None:
    root = User.objects.create_superuser("root", password="before-the-attempt")
    assert "root" not in page(staff, LIST)
    for path in ("change", "history"):
        # To Django a user who is not among those of the list does not exist.
        assert staff.get(f"{LIST}{root.pk}/{path}/").headers["Location"] == "/admin/"
    assert staff.post(f"{LIST}{root.pk}/change/", EVERYTHING).status_code == 403
    passwords = {"password1": "a-long-passphrase", "password2": "a-long-passphrase", "usable_password": "true"}
    answer = staff.post(f"{LIST}{root.pk}/password/", passwords | {"set-password": "1"})
    assert answer.status_code == 403
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


def test_whom_a_superuser_deactivates_is_logged_out_for_good(client: Client) -> None:
    anna = make_user("anna", "viewer")
    browser = Client()
    browser.force_login(anna)
    client.force_login(User.objects.create_superuser("root"))
    posted = {name: value for name, value in EVERYTHING.items() if name not in ("is_active", "is_superuser")}
    assert client.post(f"{LIST}{anna.pk}/change/", posted).status_code == 302
    User.objects.filter(pk=anna.pk).update(is_active=True)
    assert browser.get("/articles/").status_code == 302
