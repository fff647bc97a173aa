"""The finder: one box that leads to any page, article, pair, cluster and newspaper, and to help, by number or words."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from articles.models import Article, Newspaper
from articles.numbers import read_number
from dedup.models import Cluster, DetectionRun, Pair
from dedup.review.queries.articles import search
from newsdedup_site.guides import sections
from newsdedup_site.templatetags.menu import PARTS, Page, tabs

# Of each kind.
_MOST = 5
_NUMBERED = {"article": Article, "pair": Pair, "cluster": Cluster, "run": DetectionRun}
# What people want to do; most of it is not in the menu.
_DOING = [
    Page("Start a run", "run_new", ()),
    Page("Import a file", "import_new", ()),
    Page("Add a newspaper", "newspaper_add", ()),
    Page("Answer many at once", "batch_new", ()),
    Page("Draw a validation sample", "validation_new", ()),
    Page("Write a profile", "profile_new", ()),
    Page("Change your keys", "keys", ()),
    Page("Change your password", "password_change", ()),
    Page("Dashboard", "dashboard", ()),
]


class Hit(NamedTuple):
    """Something that was found."""

    label: str
    address: str
    note: str = ""


def find(request: HttpRequest) -> HttpResponse:
    """Show what fits what was typed: the page, or for the dialog the list alone."""
    typed = request.GET.get("q", "").replace("\0", "").strip()[:200]
    kinds = {
        "Numbers": _numbered(typed),
        "Pages": _pages(request, typed),
        "Newspapers": _newspapers(typed),
        "Help": _help(typed),
        "Articles": _articles(typed),
    }
    found = {kind: list(islice(hits, _MOST)) for kind, hits in kinds.items()}
    context = {"typed": typed, "found": {kind: hits for kind, hits in found.items() if hits}}
    return render(request, "layout/_found.html" if "HX-Request" in request.headers else "finder/finder.html", context)


def _numbered(typed: str) -> Iterator[Hit]:
    number = read_number(typed)
    for name, model in _NUMBERED.items() if number is not None else ():
        if model._default_manager.filter(pk=number).exists():  # noqa: SLF001 - the name that Django documents
            yield Hit(f"{name.capitalize()} {number}", reverse(name, args=[number]))


def _pages(request: HttpRequest, typed: str) -> Iterator[Hit]:
    words = typed.casefold().split()
    pages = chain(*(pages for entries in PARTS.values() for pages in entries.values()), _DOING)
    for page in tabs(request, list(pages)):
        if all(word in page["label"].casefold() for word in words):
            yield Hit(page["label"], page["address"])


def _newspapers(typed: str) -> Iterator[Hit]:
    for paper in Newspaper.objects.in_use().filter(name__icontains=typed).only("name")[:_MOST] if typed else ():
        yield Hit(paper.name, f"{reverse('articles')}?newspaper={paper.pk}", "its articles")
        yield Hit(paper.name, reverse("newspaper_crawls", args=[paper.pk]), "its crawls and settings")


def _articles(typed: str) -> Iterator[Hit]:
    # A letter or a number is in too many.
    for article in search(typed).articles if len(typed) > 1 and not typed.isdecimal() else ():
        published = f"{article.newspaper}, {article.date:%-d %b %Y}"
        yield Hit(article.headline or article.url, reverse("article", args=[article.pk]), published)


def _help(typed: str) -> Iterator[Hit]:
    words = typed.casefold().split()
    fitting = [section for section in sections() if words and all(word in section.searched for word in words)]
    # First what is called so, then what names it in its heading.
    for section in sorted(fitting, key=lambda found: (words[0] not in found.heading.casefold(), len(found.heading))):
        address = reverse("help_page", args=[section.page])
        yield Hit(section.heading, f"{address}#{section.anchor}", section.note)
