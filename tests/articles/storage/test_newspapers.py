"""How a newspaper is found: by a name, an alias, an id or a host."""

import pytest

from articles.models import Newspaper, NewspaperAlias
from articles.storage import newspapers
from articles.storage.newspapers import (
    Naming,
    Paper,
    UnknownNewspaperError,
    current_ids,
    existing_newspaper,
    newspaper_itself,
    newspapers_for,
    newspapers_named,
    papers_for,
)

pytestmark = pytest.mark.django_db


def paper(name: str, host: str = "", *aliases: str, **fields: object) -> Newspaper:
    made = Newspaper.objects.create(name=name, host=host or f"{name.lower()}.example", **fields)
    NewspaperAlias.objects.bulk_create(NewspaperAlias(newspaper=made, alias=alias) for alias in aliases)
    return made


def test_a_name_comes_before_an_alias_and_an_alias_before_an_id() -> None:
    post, times = paper("Post", "", "The Post"), paper("Times")
    assert newspapers_named([]) == []
    assert newspapers_named(["Times", "The Post", str(times.pk), "Post"]) == [times, post]
    named_like_an_id = paper(str(post.pk))
    assert newspapers_named([str(post.pk)]) == [named_like_an_id]
    aliased_like_an_id = paper("Courier", "", str(times.pk))
    assert newspapers_named([str(times.pk)]) == [aliased_like_an_id]


def test_a_newspaper_that_was_merged_leads_to_the_one_that_stays_unless_it_itself_is_asked_for() -> None:
    post = paper("Post")
    old = paper("Old Post", "", "The Old Post", merged_into=post)
    assert newspapers_named(["Old Post", "Post"]) == [post]
    assert newspaper_itself("The Old Post") == old
    assert current_ids([old.pk]) == (post.pk,)
    later = paper("Times")
    assert current_ids([later.pk, old.pk, post.pk]) == tuple(sorted((post.pk, later.pk)))
    assert current_ids([]) == ()
    for name, host in (("Old Post", "x.example"), ("", "old post.example"), ("The Old Post", "x.example")):
        naming = Naming(name, host)
        assert newspapers_for([naming]) == [post]
        assert existing_newspaper(naming) == post
        assert papers_for([naming]) == [Paper.of(post)]


def test_an_unknown_newspaper_is_named_with_some_that_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNewspaperError) as raised:
        newspapers_named(["Post"])
    assert str(raised.value) == "no newspaper is named 'Post'; known newspapers: none"
    monkeypatch.setattr(newspapers, "_SHOWN_NAMES", 2)
    paper("Old Post", merged_into=paper("Post"))
    paper("Courier")
    for known in ("Courier, Post", "Courier, Post, …"):
        with pytest.raises(UnknownNewspaperError) as raised:
            newspapers_named(["Post", "Mail", "Sun"])
        assert str(raised.value) == f"no newspaper is named 'Mail', 'Sun'; known newspapers: {known}"
        paper("Times" if known.endswith("Post") else "Sun")


def test_what_is_only_looked_up_is_not_made() -> None:
    post = paper("Post", "post.example", "The Post", title_affixes=["Wire"], kept_url_parameters=["sid"])
    wanted = [Naming("Times", "times.example"), Naming("", "post.example"), Naming("", "sun.example")]
    assert papers_for(wanted) == [
        Paper("Times", "times.example", ("Times",), ()),
        Paper("Post", "post.example", ("Post", "Wire"), ("sid",)),
        Paper("sun.example", "sun.example", ("sun.example",), ()),
    ]
    assert [existing_newspaper(name) for name in wanted] == [None, post, None]
    assert existing_newspaper(Naming("The Post", "sun.example")) == post
    assert list(Newspaper.objects.all()) == [post]


def test_newspapers_are_made_once_with_the_first_host_and_found_by_alias_before_host() -> None:
    wanted = [Naming("Times", "one.example"), Naming("Times", "two.example"), Naming("", "two.example"), Naming("", "")]
    found = newspapers_for(wanted[:3])
    assert [(newspaper.name, newspaper.host) for newspaper in found] == [("Times", "one.example")] * 2 + [
        ("two.example",) * 2
    ]
    assert newspapers_for(wanted[:3]) == found
    assert Newspaper.objects.count() == 2
    # Of two newspapers with one host, the older one; but an alias names its newspaper whatever its host.
    older, younger = paper("Older", "shared.example"), paper("Younger", "shared.example")
    assert newspapers_for([Naming("", "shared.example")]) == [older]
    NewspaperAlias.objects.create(newspaper=younger, alias="shared.example")
    assert newspapers_for([Naming("", "shared.example"), Naming("shared.example", "x")]) == [younger, younger]
    assert newspapers_for([Naming("Older", "shared.example")]) == [older]
    # In a batch, a row without a name finds a newspaper that another row makes.
    first, second = newspapers_for([Naming("", "new.example"), Naming("New", "new.example")])
    assert (first, first.name) == (second, "New")
    first, second = newspapers_for([Naming("Newer", "newer.example"), Naming("", "newer.example")])
    assert (first.name, second) == ("Newer", first)
    assert newspapers_for([]) == []


def test_a_naming_is_a_name_without_blanks_around_it_and_the_host_of_the_story() -> None:
    named = Naming.of(" Post ", "https://www.google.com/url?url=https://www.post.example/1")
    assert named == Naming("Post", "post.example")
