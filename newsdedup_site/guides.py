"""The documentation as pages: the Markdown files of docs/ as HTML, with links and pictures that work on the site."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

# The guides for newcomers, in the order of the tabs; the first one is /help/ itself.
GUIDES = {"editors": "For editors", "admins": "For admins"}
FOLDER: Path = settings.BASE_DIR / "docs"
_PARSER = MarkdownIt("commonmark").enable("table")
# What can be wider than the screen scrolls, also by the keyboard.
_WIDE = '<div class="table-wrap" tabindex="0" role="group" aria-label="{}">'
_TITLE = re.compile(r"^# (.*)$", re.MULTILINE)
# A page of the folder, as its own links name it: "verdicts.md#how-it-learns", or "#on-this-page".
_PAGE = re.compile(r"(?:(?P<name>[\w-]+)\.md)?(?P<anchor>#.*)?")


def help_page(request: HttpRequest, name: str = "editors") -> HttpResponse:
    """Show a page of docs/, with links to the guides and to all others."""
    page = documents().get(name)
    if page is None:
        raise Http404(f"docs/ has no page {name}.md")
    others = [document for document in documents().values() if document.name not in GUIDES]
    context = {"document": page, "html": html_of(name), "guides": GUIDES.items(), "others": others}
    return render(request, "guides/guide.html", context)


@dataclass(frozen=True)
class Document:
    """A page of docs/: the name in its address, its first heading, and its text as Markdown."""

    name: str
    title: str
    text: str


@cache
def documents() -> dict[str, Document]:
    """Return the pages by name, in the order of their titles; as they were when the process began."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    pages = [Document(name, _TITLE.findall(text)[0].replace("`", ""), text) for name, text in texts.items()]
    return {page.name: page for page in sorted(pages, key=lambda page: page.title.lower())}


@cache
def html_of(name: str) -> SafeString:
    """Return a page as HTML. HTML inside it, such as its comments, is left out."""
    tokens = _without_html(_PARSER.parse(documents()[name].text))
    _name_headings(tokens)
    tokens = list(_with_scrolling(tokens))
    for token in tokens:
        _without_style(token)
        if token.children:
            token.children = _without_html(token.children)
            _lead_links(token.children)
            token.children = list(_with_full_size(token.children))
    return mark_safe(_PARSER.renderer.render(tokens, _PARSER.options, {}))  # noqa: S308 (our own text, no HTML in it)


def anchor_of(heading: str) -> str:
    """Return the anchor that GitHub makes of a heading, so that links work here and there."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _without_html(tokens: Iterable[Token]) -> list[Token]:
    return [token for token in tokens if token.type not in ("html_block", "html_inline")]


def _name_headings(tokens: list[Token]) -> None:
    for token, text in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor_of(text.content))


def _with_scrolling(tokens: Iterable[Token]) -> Iterator[Token]:
    for token in tokens:
        if token.type in ("table_open", "fence"):
            label = "Table" if token.type == "table_open" else "Commands or code"
            yield Token("html_block", "", 0, content=_WIDE.format(label))
        yield token
        if token.type in ("table_close", "fence"):
            yield Token("html_block", "", 0, content="</div>")


def _without_style(token: Token) -> None:
    # The Content-Security-Policy refuses the style that aligns a column of numbers.
    if token.attrs.pop("style", None) == "text-align:right":
        token.attrSet("class", "number")


def _lead_links(tokens: list[Token]) -> None:
    tag = "a"
    for token in tokens:
        if token.type == "link_open":
            tag = token.tag = _lead(token)
        elif token.type == "link_close":
            token.tag = tag
        elif token.type == "image":
            token.attrSet("src", static(f"docs/{token.attrGet('src')}"))
            token.attrSet("loading", "lazy")


def _with_full_size(tokens: Iterable[Token]) -> Iterator[Token]:
    # The column is narrower than the pictures: a click shows one in its full size.
    for token in tokens:
        if token.type == "image":
            yield Token("link_open", "a", 1, attrs={"href": str(token.attrGet("src"))})
        yield token
        if token.type == "image":
            yield Token("link_close", "a", -1)


def _lead(link: Token) -> str:
    """Let a link lead to the page on this site, and return its tag: none for files that the site does not show."""
    target = str(link.attrs.pop("href"))
    page = _PAGE.fullmatch(target)
    if page and (not page["name"] or page["name"] in documents()):
        address = reverse("help_page", args=[page["name"]]) if page["name"] else ""
        link.attrSet("href", address + (page["anchor"] or ""))
    elif target.startswith(("https://", "http://")):
        link.attrs = {"href": target, "rel": "noopener noreferrer external"}
    else:
        return "span"
    return "a"
