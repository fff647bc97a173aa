"""How a newspaper responds at each of its addresses: pages, feeds, sitemaps, redirects, robots.txt."""

import gzip
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.utils import format_datetime
from functools import partial
from html import escape
from urllib.parse import quote, unquote

from crawlers.demo import pages
from crawlers.demo.pages import moment
from crawlers.demo.papers import FROM_FEED, PAPERS, PHRASES, SECTIONS
from crawlers.demo.scenarios import Article, articles
from crawlers.demo.stories import load_stories

LINKS_ON_A_PAGE = 8
ARTICLES_ON_THE_FRONT_PAGE = 12
RELATED_ARTICLES = 3
SITEMAP_ARTICLES = 30
_PLAIN = "text/plain; charset=utf-8"
_CONSENT, _AGREED = "/consent?back=", "consent=yes"
_XML = '<?xml version="1.0" encoding="utf-8"?>\n'
_CONTENT_MODULE = "http://purl.org/rss/1.0/modules/content/"
_HTML = ' type="html"'


@dataclass(frozen=True, slots=True)
class Response:
    """A response. `location` is absolute, and set only if the status is a redirect; `cookie` is one to be set."""

    body: bytes
    content_type: str
    status: int = 200
    location: str = ""
    cookie: str = ""


class Site:
    """One newspaper at one address, which always gives the same bytes, but for live blogs, which grow.

    A query that leads to no other page is ignored, as on most sites.
    """

    def __init__(self, paper_key: str, base_url: str) -> None:
        self.paper = PAPERS[paper_key]
        self.base_url = base_url
        mine = [article for article in articles() if article.paper == paper_key]
        self.articles = sorted(mine, key=lambda article: (article.date, article.path), reverse=True)
        self._pages: dict[str, Callable[[], Response]] = {}
        self._redirects = dict(redirect for article in mine for redirect in article.redirects)
        self._asks_consent = {article.path for article in mine if article.trouble == "consent"}
        self._asked_for: Counter[str] = Counter()  # live blogs, by path
        self._add_articles()
        self._add_listings()
        self._add_file("/style.css", "text/css", lambda: (pages.DESIGNS / "style.css").read_text(encoding="utf-8"))
        self._add_file("/robots.txt", "text/plain", self._robots)
        if feed := self.paper.feed:
            self._add_file(f"/{feed}.xml", f"application/{feed}+xml", self._rss if feed == "rss" else self._atom)
        if self.paper.sitemap:
            self._add_sitemaps()

    @property
    def paths(self) -> list[str]:
        """Every path that has a page or redirects."""
        return [*self._pages, *self._redirects]

    def respond(self, target: str, cookies: str = "") -> Response:
        """Return the response to a request for this path and query with these cookies."""
        target = target.partition("#")[0]
        if target.startswith(_CONSENT):
            return Response(b"", _PLAIN, 302, self.base_url + unquote(target.removeprefix(_CONSENT)), cookie=_AGREED)
        if target in self._asks_consent and _AGREED not in cookies:
            return Response(b"", _PLAIN, 302, self.base_url + _CONSENT + quote(target))
        for path in (target, target.partition("?")[0]):
            if path in self._redirects:
                return Response(b"", _PLAIN, 302, self.base_url + self._redirects[path])
            if path in self._pages:
                return self._pages[path]()
        return self._html(pages.notice_page(self.paper, "Page not found", "The tide has taken it."), status=404)

    def _add_articles(self) -> None:
        for place, article in enumerate(self.articles):
            for path in (article.path, *article.copies):
                self._pages[path] = partial(self._article, place)
            for number, path in enumerate(article.part_paths, start=1):
                self._pages[path] = partial(self._article, place, number)
        private = pages.private_article(self.paper)
        self._add_page(private.path, partial(pages.article_page, private, self.base_url, (), ()))

    def _article(self, place: int, part: int = 0) -> Response:
        """Return the page of an article, or a part of it; its box shows the next articles of the list."""
        article = self.articles[place]
        following = [self.articles[(place + step) % len(self.articles)] for step in range(1, RELATED_ARTICLES + 1)]
        teasers = load_stories().teasers
        turned = teasers[place % len(teasers) :] + teasers
        links = [(article.path, article.headline) for article in following]
        if article.trouble == "refused":
            return self._html(pages.notice_page(self.paper, "Just a moment", "Are you a program?"), status=403)
        printed = pages.part_of_article(article, part) if part else article
        if article.trouble == "live":
            printed = pages.grown(article, min(self._asked_for[article.path], len(PHRASES["live_entries"])))
            self._asked_for[article.path] += 1
        below = pages.list_of_pages(article, part) if part else ""
        page = pages.article_page(printed, self.base_url, links, turned, below)
        if article.trouble == "mislabelled":
            return Response(page.encode("windows-1252", "xmlcharrefreplace"), "text/html; charset=utf-8")
        return self._html(page)

    def _add_listings(self) -> None:
        newest = self._links(self.articles[:ARTICLES_ON_THE_FRONT_PAGE])
        self._add_page("/", partial(pages.listing_page, self.paper, self.paper.name, newest))
        about = [("/", PHRASES["about"])]
        for title in ("About", "Contact"):
            self._add_page(f"/{title.lower()}", partial(pages.listing_page, self.paper, title, about))
        for section in SECTIONS:
            links = self._links([article for article in self.articles if article.section == section])
            last = max(len(links) - 1, 0) // LINKS_ON_A_PAGE
            for number in range(last + 1):
                shown = links[number * LINKS_ON_A_PAGE :][:LINKS_ON_A_PAGE]
                older = _section_path(section, number + 1) if number < last else ""
                page = partial(pages.listing_page, self.paper, section.capitalize(), shown, older)
                self._add_page(_section_path(section, number), page)

    def _add_page(self, path: str, make: Callable[[], str]) -> None:
        self._pages[path] = lambda: self._html(make())

    def _add_file(self, path: str, media_type: str, make: Callable[[], str]) -> None:
        self._pages[path] = lambda: Response(make().encode(), f"{media_type}; charset=utf-8")

    def _html(self, page: str, status: int = 200) -> Response:
        # Characters that a charset lacks, such as “ in ISO-8859-1, become character references.
        body = page.encode(self.paper.charset, "xmlcharrefreplace")
        return Response(body, f"text/html; charset={self.paper.charset}", status)

    def _links(self, listed: Sequence[Article]) -> list[tuple[str, str]]:
        return [(path, article.headline) for article in listed for path in article.listed]

    def _robots(self) -> str:
        sitemap = f"Sitemap: {self.base_url}/sitemap.xml\n" if self.paper.sitemap else ""
        return f"User-agent: *\nDisallow: /private/\n{sitemap}"

    # -- Feeds and sitemaps; each lists the private page too, as careless systems do ------------------------

    def _entries(self) -> list[tuple[str, Article]]:
        """Return every address that the newspaper lists, with its article."""
        announced = [(path, article) for article in self.articles for path in article.listed]
        private = pages.private_article(self.paper)
        return [*announced, (private.path, private)]

    def _rss(self) -> str:
        channel = (
            f"<title>{escape(self.paper.name)}</title><link>{self.base_url}/</link>"
            f"<description>{escape(self.paper.slogan)}</description>"
        )
        items = "\n".join(
            f"<item><title>{escape(article.headline)}</title><link>{escape(self.base_url + path)}</link>"
            f'<guid isPermaLink="false">{escape(article.id)}</guid>'
            f"<pubDate>{format_datetime(moment(article))}</pubDate>"
            f"<description>{escape(article.paragraphs[0])}</description>{_carried(article, 'content:encoded')}</item>"
            for path, article in self._entries()
        )
        root = f'<rss version="2.0" xmlns:content="{_CONTENT_MODULE}">'
        return f"{_XML}{root}<channel>{channel}\n{items}\n</channel></rss>\n"

    def _atom(self) -> str:
        newest = moment(self.articles[0]).isoformat()
        head = f"<title>{escape(self.paper.name)}</title><id>{self.base_url}/</id><updated>{newest}</updated>"
        entries = "\n".join(
            f"<entry><title>{escape(article.headline)}</title><id>{escape(self.base_url + path)}</id>"
            f'<link rel="alternate" href="{escape(self.base_url + path)}"/>'
            f"<published>{moment(article).isoformat()}</published><updated>{moment(article).isoformat()}</updated>"
            f"<summary>{escape(article.paragraphs[0])}</summary>{_carried(article, 'content', _HTML)}</entry>"
            for path, article in self._entries()
        )
        return f'{_XML}<feed xmlns="http://www.w3.org/2005/Atom">{head}\n{entries}\n</feed>\n'

    def _add_sitemaps(self) -> None:
        """Add an index of sitemaps: the first one plain, the others compressed."""
        entries = self._entries()
        names = []
        for number, start in enumerate(range(0, len(entries), SITEMAP_ARTICLES), start=1):
            make = partial(self._sitemap, entries[start : start + SITEMAP_ARTICLES])
            names.append(f"/sitemap-{number}.xml" if number == 1 else f"/sitemap-{number}.xml.gz")
            if number == 1:
                self._add_file(names[-1], "application/xml", make)
            else:
                self._pages[names[-1]] = partial(_packed, make)
        index = "\n".join(f"<sitemap><loc>{self.base_url}{name}</loc></sitemap>" for name in names)
        self._add_file("/sitemap.xml", "application/xml", lambda: _sitemap_document("sitemapindex", index))

    def _sitemap(self, entries: Sequence[tuple[str, Article]]) -> str:
        urls = "\n".join(
            f"<url><loc>{escape(self.base_url + path)}</loc><lastmod>{article.date}</lastmod></url>"
            for path, article in entries
        )
        return _sitemap_document("urlset", urls)


def _packed(make: Callable[[], str]) -> Response:
    return Response(gzip.compress(make().encode(), mtime=0), "application/gzip")


def _carried(article: Article, element: str, attributes: str = "") -> str:
    """Return the element in which a feed carries an article: its HTML, with the line that many systems add.

    It is empty for articles whose pages have the text.
    """
    if article.trouble not in FROM_FEED:
        return ""
    text = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in article.paragraphs)
    origin = f'<a href="{escape(article.path)}">{escape(article.headline)}</a>'
    end = f'<p>The post {origin} appeared first on <a href="/">{escape(PAPERS[article.paper].name)}</a>.</p>'
    return f"<{element}{attributes}>{escape(text + end)}</{element}>"


def _section_path(section: str, number: int) -> str:
    """Return the path of a page of a section; number 0 has the newest articles."""
    return f"/{section}/page/{number + 1}" if number else f"/{section}/"


def _sitemap_document(root: str, content: str) -> str:
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'{_XML}<{root} xmlns="{namespace}">\n{content}\n</{root}>\n'
