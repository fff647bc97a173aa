"""People: invited, given roles, reset and blocked by admins in the browser, with a log of all that."""

from __future__ import annotations

import datetime
import re
import threading

import pytest
import time_machine
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core import mail
from django.db import connection
from django.test import Client
from django.urls import reverse

from newsdedup_site.people import actions
from newsdedup_site.people.actions import PersonError
from tests.factories import PASSWORD, make_user
from tests.pages import notices

pytestmark = pytest.mark.django_db
NEW = {"new_password1": "an-even-longer-phrase", "new_password2": "an-even-longer-phrase"}


@pytest.fixture
def ada() -> User:
    return make_user("ada", "admin", is_staff=True)


@pytest.fixture
def staff(client: Client, ada: User) -> Client:
    client.force_login(ada)
    return client


def post(client: Client, view: str, person: User | None = None, /, **values: str) -> str:
    """Send a form of the pages about people, and return the page that comes."""
    answer = client.post(reverse(view, args=[person.pk] if person else []), values, follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def link_on(page: str) -> str:
    return re.search(r">http://testserver(/set-password/[^<]+)<", page)[1]


def log() -> list[tuple[str, str, str]]:
    entries = LogEntry.objects.select_related("user").order_by("pk")
    return [(entry.user.username, entry.object_repr, entry.change_message) for entry in entries]


def use(link: str) -> tuple[Client, int]:
    """Open a link in a browser of its own and set a password there; return that browser and the status."""
    client = Client()
    opened = client.get(link, follow=True)
    if opened.status_code != 200:
        return client, opened.status_code
    return client, client.post(opened.redirect_chain[-1][0], NEW).status_code


def test_a_person_who_is_invited_chooses_a_password_once(staff: Client) -> None:
    link = link_on(post(staff, "person_invite", name="mara", role="editor", email=""))
    mara = User.objects.get(username="mara")
    assert not mara.has_usable_password()

    browser, status = use(link)
    assert status == 302
    assert browser.get("/queue/").status_code == 200
    assert browser.get("/people/").status_code == 403
    mara.refresh_from_db()
    assert mara.check_password(NEW["new_password1"])
    assert use(link)[1] == 410
    assert log() == [
        ("ada", "mara", "was invited as editor."),
        ("ada", "mara", "got a one-time link to set a password."),
        ("mara", "mara", "set a password with a one-time link."),
    ]


@pytest.mark.parametrize(("hours", "status"), [(71, 302), (73, 410)])
def test_a_link_works_for_three_days(staff: Client, hours: int, status: int) -> None:
    page = post(staff, "person_invite", name="mara", role="viewer", email="")
    with time_machine.travel(datetime.timedelta(hours=hours), tick=False):
        assert use(link_on(page))[1] == status


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"name": "ada", "role": "viewer"}, "“ada” is taken. Choose another name."),
        ({"name": "an na", "role": "viewer"}, "Enter a valid username."),
        ({"name": "anna", "role": "superuser"}, "superuser is not one of the available choices."),
        ({"name": "anna", "role": "viewer", "email": "nobody"}, "Enter a valid email address."),
    ],
)
def test_an_invitation_that_cannot_be_made_says_why(staff: Client, values: dict[str, str], fault: str) -> None:
    answer = staff.post("/people/invite/", values)
    assert answer.status_code == 400
    assert fault in answer.content.decode()
    assert User.objects.count() == 1


def test_a_link_is_also_sent_where_mail_is_set_up(staff: Client, settings) -> None:
    post(staff, "person_invite", name="ben", role="viewer", email="ben@desk.example")
    assert mail.outbox == []
    settings.SEND_EMAIL = True
    page = post(staff, "person_invite", name="mara", role="editor", email="mara@desk.example")
    assert "was sent to mara@desk.example" in page
    (sent,) = mail.outbox
    assert sent.to == ["mara@desk.example"]
    assert link_on(page) in sent.body


def test_a_link_is_shown_although_the_mail_fails(staff: Client, settings) -> None:
    settings.SEND_EMAIL = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    page = post(staff, "person_invite", name="mara", role="editor", email="mara@desk.example")
    assert "could not be sent" in page
    assert use(link_on(page))[1] == 302


def test_a_forgotten_password_is_replaced_and_works_until_then(staff: Client) -> None:
    mara = make_user("mara", "editor")
    other = Client()
    assert other.post("/login/", {"username": "mara", "password": PASSWORD}).status_code == 302
    link = link_on(post(staff, "person_link", mara))
    assert other.get("/queue/").status_code == 200
    assert use(link)[1] == 302
    assert other.get("/queue/").status_code == 302


def test_a_role_is_given_and_logged(staff: Client) -> None:
    mara = make_user("mara", "viewer")
    browser = Client()
    browser.force_login(mara)
    assert browser.get("/runs/new/").status_code == 403
    post(staff, "person_change", mara, role="admin", email="mara@desk.example")
    mara.refresh_from_db()
    assert (actions.role_of(mara), mara.is_staff, mara.email) == ("admin", True, "mara@desk.example")
    assert browser.get("/runs/new/").status_code == 200
    post(staff, "person_change", mara, role="viewer", email="mara@desk.example")
    mara.refresh_from_db()
    assert (actions.role_of(mara), mara.is_staff) == ("viewer", False)
    assert log() == [
        ("ada", "mara", "has the role admin now (before: viewer); has the e-mail address mara@desk.example now."),
        ("ada", "mara", "has the role viewer now (before: admin)."),
    ]
    page = staff.get(f"/people/{mara.pk}/").content.decode()
    assert "has the role viewer now (before: admin)." in page


def test_blocking_ends_every_session_at_once_and_for_good(staff: Client) -> None:
    mara = make_user("mara", "editor")
    link = link_on(post(staff, "person_link", mara))
    browsers = [Client(), Client()]
    for browser in browsers:
        browser.force_login(mara)
        assert browser.get("/queue/").status_code == 200

    post(staff, "person_block", mara)
    assert [browser.get("/queue/").status_code for browser in browsers] == [302, 302]
    assert browsers[0].post("/login/", {"username": "mara", "password": PASSWORD}).status_code == 200
    assert use(link)[1] == 410
    assert notices(post(staff, "person_link", mara))[-1][0] == "error"

    post(staff, "person_unblock", mara)
    assert browsers[0].get("/queue/").status_code == 302
    assert browsers[0].post("/login/", {"username": "mara", "password": PASSWORD}).status_code == 302
    assert [act for _, _, act in log()[1:]] == ["was blocked; 2 sessions ended.", "was unblocked."]


@pytest.mark.parametrize("name", ["person_block", "person_change"])
def test_admins_neither_block_nor_demote_themselves(staff: Client, ada: User, name: str) -> None:
    page = post(staff, name, ada, role="editor", email="")
    assert [kind for kind, _ in notices(page)] == ["error"]
    ada.refresh_from_db()
    assert (ada.is_active, actions.role_of(ada), log()) == (True, "admin", [])


def test_the_last_admin_stays_one_also_against_a_superuser(client: Client, ada: User) -> None:
    root = User.objects.create_superuser("root")
    make_user("gone", "admin", is_active=False)
    with pytest.raises(PersonError, match=r"^ada is the last admin\. Make somebody else an admin first\.$"):
        actions.block(ada.pk, by=root)
    with pytest.raises(PersonError, match="last admin"):
        actions.change(ada.pk, role="editor", email="", by=root)
    make_user("boris", "admin", is_staff=True)
    actions.block(ada.pk, by=root)
    with pytest.raises(PersonError, match="boris is the last admin"):
        actions.change(User.objects.get(username="boris").pk, role="viewer", email="", by=root)


def test_superusers_are_out_of_reach(staff: Client) -> None:
    root = User.objects.create_superuser("root")
    assert "root" not in staff.get("/people/").content.decode()
    for name in ("person", "person_change", "person_link", "person_block", "person_unblock"):
        method = staff.get if name == "person" else staff.post
        assert method(reverse(name, args=[root.pk])).status_code == 404


def test_the_list_shows_who_is_who(staff: Client) -> None:
    make_user("ben")
    make_user("gone", "editor", is_active=False)
    post(staff, "person_invite", name="mara", role="viewer", email="")
    page = staff.get("/people/").content.decode()
    rows = re.findall(
        r'<a href="/people/\d+/">(\w+)</a>.*?<td>(\w+)</td>.*?<span class="state[^>]*>(\w+)<', page, re.DOTALL
    )
    assert rows == [
        ("ada", "admin", "active"),
        ("ben", "none", "active"),
        ("mara", "viewer", "invited"),
        ("gone", "editor", "blocked"),
    ]


def test_all_changes_are_listed_page_by_page(staff: Client) -> None:
    mara = make_user("mara", "viewer")
    for number in range(18):
        post(staff, "person_change", mara, role="viewer", email=f"mara{number}@desk.example")
        post(staff, "person_link", mara)
    pages = [staff.get("/people/changes/", {"page": page}).content.decode() for page in (1, 2)]
    assert [page.count("<strong>mara</strong>") for page in pages] == [30, 6]
    assert "mara0@desk.example" in pages[1]


def test_a_form_that_was_sent_after_the_session_ended_does_nothing(staff: Client) -> None:
    mara = make_user("mara", "editor")
    assert staff.get(reverse("person_block", args=[mara.pk]))["Location"] == f"/people/{mara.pk}/"
    mara.refresh_from_db()
    assert mara.is_active


def test_a_link_is_kept_out_of_every_cache(staff: Client) -> None:
    answer = staff.post(reverse("person_link", args=[make_user("mara", "editor").pk]))
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.django_db(transaction=True)
def test_two_admins_who_demote_each_other_at_once_leave_one() -> None:
    both = [make_user(name, "admin", is_staff=True) for name in ("ada", "boris")]
    refused: list[str] = []
    start = threading.Barrier(2)

    def demote(by: User, other: User) -> None:
        start.wait()
        try:
            actions.change(other.pk, role="editor", email="", by=by)
        except PersonError as error:
            refused.append(str(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=demote, args=pair) for pair in (both, both[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 1
    assert sum(actions.role_of(user) == "admin" for user in User.objects.all()) == 1
