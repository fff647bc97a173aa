"""People: invited, given roles, reset and blocked by admins in the browser, with a log of all that."""

import datetime
import re

import pytest
import time_machine
from axes.models import AccessFailureLog
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.contrib.auth.models import Group, User
from django.core import mail
from django.test import Client, RequestFactory
from django.urls import reverse

from newsdedup_site.people import actions
from newsdedup_site.people.actions import PersonError, make_link
from tests.factories import PASSWORD, client_of, make_user
from tests.pages import notices

pytestmark = pytest.mark.django_db
NEW = {"new_password1": "an-even-longer-phrase", "new_password2": "an-even-longer-phrase"}


def post(client: Client, view: str, person: User | None = None, /, **values: str) -> str:
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


@pytest.mark.parametrize(
    ("backend", "said"), [("locmem", "was sent to mara@desk.example"), ("smtp", "could not be sent")]
)
def test_a_link_is_shown_and_whether_it_was_mailed(staff: Client, settings, backend: str, said: str) -> None:
    settings.SEND_EMAIL, settings.EMAIL_BACKEND = True, f"django.core.mail.backends.{backend}.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    page = post(staff, "person_invite", name="mara", role="editor", email="mara@desk.example")
    assert said in page
    assert use(link_on(page))[1] == 302


def test_a_forgotten_password_is_replaced_and_works_until_then(staff: Client, mara: User) -> None:
    other = Client()
    assert other.post("/login/", {"username": "mara", "password": PASSWORD}).status_code == 302
    link = link_on(post(staff, "person_link", mara))
    assert other.get("/queue/").status_code == 200
    assert use(link)[1] == 302
    assert other.get("/queue/").status_code == 302


def test_a_role_is_given_and_logged(staff: Client) -> None:
    mara = make_user("mara", "viewer")
    browser = client_of(mara)
    assert browser.get("/runs/new/").status_code == 403
    post(staff, "person_change", mara, role="admin", email="mara@desk.example")
    mara.refresh_from_db()
    assert (actions.role_of(mara), mara.email) == ("admin", "mara@desk.example")
    assert browser.get("/runs/new/").status_code == 200
    said = "has the role admin now (before: viewer); has the e-mail address mara@desk.example now."
    assert log() == [("ada", "mara", said)]
    assert said in staff.get(f"/people/{mara.pk}/").content.decode()


def test_blocking_ends_every_session_at_once_and_for_good(staff: Client, mara: User) -> None:
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


def test_the_last_admin_stays_one_also_against_a_superuser(client: Client, ada: User) -> None:
    root = User.objects.create_superuser("root")
    make_user("gone", "admin", is_active=False)
    with pytest.raises(PersonError, match=r"^ada is the last admin\. Make somebody else an admin first\.$"):
        actions.block(ada.pk, by=root)
    with pytest.raises(PersonError, match="last admin"):
        actions.change(ada.pk, role="editor", email="", by=root)
    make_user("boris", "admin")
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


def test_a_link_is_kept_out_of_every_cache_and_a_form_that_comes_as_a_link_does_nothing(staff: Client) -> None:
    mara = make_user("mara", "editor")
    assert "no-store" in staff.post(reverse("person_link", args=[mara.pk]))["Cache-Control"]
    assert staff.get(reverse("person_block", args=[mara.pk]))["Location"] == f"/people/{mara.pk}/"
    mara.refresh_from_db()
    assert mara.is_active


def test_what_is_done_to_a_person_is_returned_logged_and_refused_in_words(ada: User) -> None:
    mara = make_user("mara", email="mara@desk.example")
    change = lambda **values: actions.change(mara.pk, by=ada, **values)  # noqa: E731
    assert change(email="mara@desk.example", role="viewer") == ["has the role viewer now (before: none)"]
    assert change(email="", role="viewer") == ["has no e-mail address now"]
    assert change(email="", role="viewer") == []
    assert change(email="m@desk.example", role="editor") == [
        "has the role editor now (before: viewer)",
        "has the e-mail address m@desk.example now",
    ]
    assert len(log()) == 3
    client_of(mara)
    assert actions.block(mara.pk, by=ada) == 1
    assert log()[-1] == ("ada", "mara", "was blocked; 1 session ended.")
    mara.refresh_from_db()
    for act, said in (
        (lambda: actions.block(mara.pk, by=ada), "mara is blocked already."),
        (lambda: make_link(RequestFactory().get("/"), mara, by=ada), "mara is blocked. Unblock them first."),
        (lambda: actions.unblock(ada.pk, by=ada), "ada is not blocked."),
        (lambda: actions.block(ada.pk, by=ada), "You cannot block yourself. Ask another admin."),
        (
            lambda: actions.change(ada.pk, email="", role="viewer", by=ada),
            "You cannot give yourself another role. Ask another admin.",
        ),
    ):
        with pytest.raises(PersonError) as raised:
            act()
        assert str(raised.value) == said
    assert len(log()) == 4
    # An admin may change their own address.
    changes = actions.change(ada.pk, email="ada@desk.example", role="admin", by=ada)
    assert changes == ["has the e-mail address ada@desk.example now"]
    actions.unblock(mara.pk, by=ada)
    assert log()[-1] == ("ada", "mara", "was unblocked.")
    assert actions.block(mara.pk, by=ada) == 0
    assert log()[-1] == ("ada", "mara", "was blocked; 0 sessions ended.")
    entries = LogEntry.objects.order_by("pk").values_list("action_flag", "object_id")
    assert {(flag, number) for flag, number in entries} == {(CHANGE, str(mara.pk)), (CHANGE, str(ada.pk))}


def test_who_is_invited_has_an_address_and_whom_there_is_stays_as_they_are(ada: User) -> None:
    anna = actions.invite("anna", "Anna@DESK.example", "editor", by=ada)
    with pytest.raises(PersonError, match=r"^“anna” is taken\. Choose another name\.$"):
        actions.invite("anna", "", "viewer", by=ada)
    anna.refresh_from_db()
    assert (anna.email, actions.role_of(anna)) == ("Anna@desk.example", "editor")
    entry = LogEntry.objects.get()
    assert (entry.action_flag, entry.object_id) == (ADDITION, str(anna.pk))


def test_a_role_replaces_the_others_and_leaves_groups_of_your_own() -> None:
    own = Group.objects.create(name="night shift")
    mara = make_user("mara", "viewer", "editor")
    mara.groups.add(own)
    assert actions.role_of(mara) == "editor"
    for role in ("admin", "viewer"):
        actions.set_role(mara, role)
        mara.refresh_from_db()
        assert actions.role_of(mara) == role
        assert {group.name for group in mara.groups.all()} == {role, "night shift"}
    mara.groups.set([own])
    assert actions.role_of(mara) == ""


def test_unlocking_is_logged_once_for_whom_it_is_about(ada: User, mara: User) -> None:
    times = iter(range(100))

    def fail(name: str, address: str) -> None:
        AccessFailureLog.objects.create(username=name, ip_address=address, user_agent=str(next(times)), path_info="/")

    for name, address in (("mara", "203.0.113.1"), ("mara", "203.0.113.2"), ("zoe", "203.0.113.2")):
        fail(name, address)
    left = lambda: set(AccessFailureLog.objects.values_list("username", "ip_address"))  # noqa: E731
    assert not actions.unlock("nobody", "", by=ada)
    assert not actions.unlock("", "", by=ada)
    assert actions.unlock("mara", "203.0.113.2", by=ada)
    assert left() == {("mara", "203.0.113.1"), ("zoe", "203.0.113.2")}
    assert actions.unlock("", "203.0.113.2", by=ada)
    assert actions.unlock("mara", "", by=ada)
    assert left() == set()
    fail("zoe", "203.0.113.2")
    assert actions.unlock("zoe", "", by=ada)
    entries = LogEntry.objects.order_by("pk").values_list("object_repr", "object_id", "change_message", "action_flag")
    assert list(entries) == [
        ("mara", str(mara.pk), "was unlocked from 203.0.113.2 after wrong passwords.", CHANGE),
        ("203.0.113.2", "", "was unlocked after wrong passwords.", CHANGE),
        ("mara", str(mara.pk), "was unlocked after wrong passwords.", CHANGE),
        ("zoe", "", "was unlocked after wrong passwords.", CHANGE),
    ]


def test_only_the_sessions_of_a_person_that_still_run_are_ended() -> None:
    mara, ben = make_user("mara"), make_user("ben")
    for user in (mara, mara, ben):
        client_of(user)
    with time_machine.travel(datetime.timedelta(days=-400), tick=False):
        client_of(mara)
    assert actions.end_sessions(mara) == 2
    assert actions.end_sessions(mara) == 0
    assert actions.end_sessions(ben) == 1


def test_a_link_says_until_when_it_works_and_is_mailed_to_whom_it_is_for(rf: RequestFactory, settings) -> None:
    settings.SEND_EMAIL, settings.PASSWORD_RESET_TIMEOUT = True, 7_200
    mara = make_user("mara", email="mara@desk.example")
    with time_machine.travel("2026-03-02T09:00:00Z", tick=False):
        link = make_link(rf.get("/"), mara, by=mara)
    assert (f"{link.expires:%Y-%m-%d %H:%M}", link.mail) == ("2026-03-02 11:00", "sent")
    assert link.url.startswith("http://testserver/set-password/")
    (sent,) = mail.outbox
    assert (sent.subject, sent.to) == ("Set your newsdedup password", ["mara@desk.example"])
    assert f"Hello mara,\n\nthis link sets your password for newsdedup:\n\n{link.url}\n\n" in sent.body
    assert "It works once, until Monday 2 Mar 2026, 11:00 UTC. Your user name is mara." in sent.body
    assert make_link(rf.get("/"), make_user("ben"), by=mara).mail == ""
    settings.SEND_EMAIL = False
    assert make_link(rf.get("/"), mara, by=mara).mail == ""
    assert len(mail.outbox) == 1
