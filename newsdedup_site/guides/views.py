"""The pages of the documentation."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from newsdedup_site.guides.documents import documents, html_of

# The guides for newcomers, in the order of the tabs; the first one is /help/ itself.
GUIDES = {"editors": "For editors", "admins": "For admins"}


def help_page(request: HttpRequest, name: str = "editors") -> HttpResponse:
    """Show a page of docs/, with links to the guides and to all others."""
    page = documents().get(name)
    if page is None:
        raise Http404(f"docs/ has no page {name}.md")
    others = [document for document in documents().values() if document.name not in GUIDES]
    context = {"document": page, "html": html_of(name), "guides": GUIDES.items(), "others": others}
    return render(request, "guides/guide.html", context)
