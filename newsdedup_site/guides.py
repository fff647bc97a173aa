"""The documentation as pages: the Markdown files of docs/ as HTML, with links and pictures that work on the site."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from dedup.views.requests import tab_to

# The guides for newcomers, in the order of the tabs; the first one is /help/ itself.
GUIDES = {"editors": "For editors", "admins": "For admins"}
FOLDER: Path = settings.ASSETS / "docs"
# What can be wider than the screen scrolls, also by the keyboard.
_WIDE = '<div class="table-wrap" tabindex="0" role="group" aria-label="{}">'
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_TERM = re.compile(r"^- \*\*(.+?)\*\*: ([^\[.]+)", re.MULTILINE)
_TITLE = re.compile(r"^# (.*)$", re.MULTILINE)
# A page of the folder, as its own links name it: "verdicts.md#how-it-learns", or "#on-this-page".
_PAGE = re.compile(r"(?:(?P<name>[\w-]+)\.md)?(?P<anchor>#.*)?")


def help_page(request: HttpRequest, name: str = "editors") -> HttpResponse:
    """Show a page of docs/, with links to the guides and to all others."""
    page = documents().get(name)
    if page is None:
        raise Http404(f"docs/ has no page {name}.md")
    others = [document for document in documents().values() if document.name not in GUIDES]
    guides = [tab_to(label, reverse("help_page", args=[own]), shown=own == name) for own, label in GUIDES.items()]
    tabs = [*guides, tab_to("All pages", "#all-pages", shown=False)]
    context = {"document": page, "html": html_of(name), "tabs": tabs, "others": others}
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


@dataclass(frozen=True)
class Section:
    """A part of a page of docs/ under a heading, with what it says in small letters; or a term of the glossary.

    `note` is the title of the page, or what the term means.
    """

    page: str
    anchor: str
    heading: str
    note: str
    searched: str


@cache
def sections() -> list[Section]:
    """Return the terms of the glossary and the sections of all pages, those of the guides first."""
    found = []
    for document in sorted(documents().values(), key=lambda page: page.name not in GUIDES):
        _, *parts = _HEADING.split(f"\n{document.text}")
        for heading, text in zip(parts[::2], parts[1::2], strict=True):
            plain = heading.replace("`", "")
            place = document.name, _anchor(plain)
            found.append(Section(*place, plain, document.title, f"{plain}\n{text}".casefold()))
            for term, meaning in _TERM.findall(text) if document.name == "glossary" else ():
                found.append(Section(*place, term, " ".join(meaning.split()), term.casefold()))
    return found


def _anchor(heading: str) -> str:
    """Return the anchor that GitHub makes of a heading, so that links work here and there."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class _Renderer(RendererHTML):
    """Renders a page for this site. HTML inside it, such as its comments, is left out."""

    def html_block(self, *_of_token: Any, **_named: Any) -> str:
        return ""

    html_inline = html_block

    def heading_open(self, tokens: Sequence[Token], idx: int, *rest: Any) -> str:
        tokens[idx].attrSet("id", _anchor(tokens[idx + 1].content))
        return self.renderToken(tokens, idx, *rest)

    def table_open(self, tokens: Sequence[Token], idx: int, *rest: Any) -> str:
        return _WIDE.format("Table") + self.renderToken(tokens, idx, *rest)

    def table_close(self, tokens: Sequence[Token], idx: int, *rest: Any) -> str:
        return self.renderToken(tokens, idx, *rest) + "</div>"

    def fence(self, tokens: Sequence[Token], idx: int, *rest: Any) -> str:
        return f"{_WIDE.format('Commands or code')}{super().fence(tokens, idx, *rest)}</div>"

    def td_open(self, tokens: Sequence[Token], idx: int, *rest: Any) -> str:
        # The Content-Security-Policy refuses the style that aligns a column of numbers.
        if tokens[idx].attrs.pop("style", None) == "text-align:right":
            tokens[idx].attrSet("class", "number")
        return self.renderToken(tokens, idx, *rest)

    th_open = td_open

    def link_open(self, tokens: Sequence[Token], idx: int, *rest: Any) -> str:
        end = next(token for token in tokens[idx:] if token.type == "link_close")
        tokens[idx].tag = end.tag = _lead(tokens[idx])
        return self.renderToken(tokens, idx, *rest)

    def image(self, tokens: Sequence[Token], idx: int, *rest: Any) -> str:
        source = static(f"docs/{tokens[idx].attrGet('src')}")
        tokens[idx].attrs |= {"src": source, "loading": "lazy"}
        # The column is narrower than the pictures: a click shows one in its full size.
        return f'<a href="{source}">{super().image(tokens, idx, *rest)}</a>'


_PARSER = MarkdownIt("commonmark", renderer_cls=_Renderer).enable("table")


@cache
def html_of(name: str) -> SafeString:
    return mark_safe(_PARSER.render(documents()[name].text))  # noqa: S308 (our own text, no HTML in it)


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
