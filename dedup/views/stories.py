"""Stories for readers: the list, a story with its sources, and the Atom feed.

The setting STORIES_PUBLIC opens them to everybody. They show the headline, the first sentence and links, never a text.
"""

import datetime
import re

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import format_html, format_html_join
from django.utils.http import http_date
from django.views.decorators.cache import never_cache
from django.views.decorators.http import conditional_page, require_POST

from articles.paging import page_of
from dedup.integrations.tokens import TokenError, allows, find_token, make_token
from dedup.models import Token
from dedup.review.queries.stories import COPIES_SHOWN, Story, listed_stories, stories_of, story_numbered
from dedup.rows.clusters import StoryFilter
from dedup.views.requests import EditorRequest, address_of, bad_request, query_with, reasons_of

# As many as a feed reader that looks in once a day needs.
FEED_STORIES = 50

# Not allowed in XML 1.0, https://www.w3.org/TR/xml/#charsets
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def stories(request: HttpRequest) -> HttpResponse:
    """List the stories, the newest first."""
    filterset = StoryFilter(request.GET, listed_stories())
    page = page_of(filterset.qs, request.GET.get("page"), ceiling=filterset.ceiling, by_key=True)
    query = query_with(request, page=None)
    context = {"filter": filterset, "page": page, "stories": stories_of(page.rows), "query": query}
    return render(request, "stories/stories.html", context)


def story(request: HttpRequest, number: int) -> HttpResponse:
    """Show a story with the articles that newspapers have of it; its address has the lowest of their numbers."""
    found = story_numbered(number)
    if found is None:
        raise Http404(f"There is no article {number}")
    shown, copies = found
    if shown.number != number:
        return redirect("story", shown.number)
    return render(request, "stories/story.html", {"story": shown, "copies": copies, "most": COPIES_SHOWN})


@conditional_page
def stories_feed(request: HttpRequest) -> HttpResponse:
    """Send the newest stories as an Atom feed, with the filter of the address."""
    filterset = StoryFilter(request.GET, listed_stories())
    if not filterset.form.is_valid():
        return bad_request("; ".join(reasons_of(filterset.form)))
    found = stories_of(filterset.qs[:FEED_STORIES])
    answer = HttpResponse(_atom(request, found), content_type="application/atom+xml; charset=utf-8")
    if newest := max((entry.changed_at for entry in found), default=None):
        answer["Last-Modified"] = http_date(newest.timestamp())
    return answer


def stories_feed_of(request: HttpRequest, token: str) -> HttpResponse:
    """Send the same to whoever has a token for feeds, which is part of the address. Raises Http404 without one."""
    found = find_token(token)
    if found is None or not allows(found, Token.Scope.FEED):
        raise Http404("The token of this address does not work; make a new feed address")
    answer = stories_feed(request)
    answer["Cache-Control"] = "private"
    return answer


@require_POST
@never_cache
def stories_feed_address(request: EditorRequest) -> HttpResponse:
    """Make a token for feeds, and show the address with it this once."""
    try:
        token, text = make_token(request.user, f"Feed, {timezone.localdate():%-d %b %Y}", [Token.Scope.FEED])
    except TokenError as error:
        return render(request, "stories/feed_address.html", {"fault": str(error)}, status=400)
    address = request.build_absolute_uri(address_of(request, "stories_feed_of", text))
    return render(request, "stories/feed_address.html", {"token": token, "address": address})


def _atom(request: HttpRequest, found: list[Story]) -> str:
    page = request.build_absolute_uri(reverse("stories") + query_with(request, page=None))
    feed = Atom1Feed(
        title="Stories",
        link=page,
        description="Each story once, with the newspapers that have it.",
        # Without the token, which is a secret.
        feed_url=request.build_absolute_uri(reverse("stories_feed") + query_with(request, page=None)),
        language=None,
    )
    for entry in found:
        address = request.build_absolute_uri(reverse("story", args=[entry.number]))
        headline = entry.article.headline or "(no headline)"
        midnight = datetime.datetime.combine(entry.article.date, datetime.time(), datetime.UTC)
        feed.add_item(
            title=_xml(f"{headline} ({entry.articles})" if entry.articles > 1 else headline),
            link=_link(entry.article.url, address),
            description=_xml(_summary(entry, address)),
            # The address of the story stays when another article comes to represent it.
            unique_id=address,
            pubdate=entry.article.published_at or midnight,
            updateddate=entry.changed_at,
            author_name=_xml(entry.article.newspaper.name),
            categories=[_xml(source.newspaper) for source in entry.sources],
        )
    return feed.writeString("utf-8")


def _link(url: str, otherwise: str) -> str:
    return url if url.lower().startswith(("http://", "https://")) else otherwise


def _summary(story: Story, address: str) -> str:
    """Return the first sentence, and the newspapers with links, as HTML: feed readers render it."""
    links = ((_link(source.url, address), source.newspaper) for source in story.sources_shown)
    sources = format_html_join(" · ", '<a href="{}">{}</a>', links)
    more = format_html(' · <a href="{}">{} more</a>', address, story.sources_left) if story.sources_left else ""
    return format_html("<p>{}</p><p>{}{}</p>", story.first_sentence, sources, more)


def _xml(text: str) -> str:
    return _NOT_XML.sub("", text)
