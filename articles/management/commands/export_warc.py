"""`manage.py export_warc FILE`: writes the stored pages of articles to a WARC file."""

import gzip
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from articles.files.whole_files import whole_bytes
from articles.management.arguments import add_scope_options, chosen_scope
from articles.management.base import LongCommand, usage_error
from articles.models import Article, ArticlePage, FollowingPage
from articles.querysets import in_portions
from articles.warc import ENDING, ArchivedPage, PageWriter

# Pages that are read from the database at a time.
PORTION = 50


class Command(LongCommand):
    help = (
        "Exports the stored pages of articles as a WARC 1.1 file, ordered by article: response records with the time "
        "of the fetch and the HTTP content type, the further pages of an article after its first. import_warc reads "
        "it. A failed export leaves no partial file."
    )

    resuming = "No file was written."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help=f"write to this {ENDING} file")
        add_scope_options(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        scope, path = Article.objects.in_scope(**chosen_scope(options)), options["file"]
        if not path.name.endswith(ENDING):
            raise usage_error(f"{path} must end in {ENDING}.")
        if not path.parent.is_dir():
            raise usage_error(f"{path}: {path.parent} does not exist or is not a folder; create it first.")
        pages = ArticlePage.objects.filter(article__in=scope)
        written = 0
        with self.progress(options) as progress, whole_bytes(path) as stream:
            writer = PageWriter(stream, path.name)
            # A few at a time, so that a long export holds no long transaction.
            portions = in_portions(pages.prefetch_related("following"), PORTION)
            for page in progress.track(chain.from_iterable(portions), total=pages.count(), description="pages"):
                for record in _records(page):
                    writer.write(record)
                    written += 1
        self.stderr.write(
            f"Pages written: {written:,}. Articles without a stored page: {scope.count() - pages.count():,}."
        )


def _records(page: ArticlePage) -> Iterator[ArchivedPage]:
    """Yield a page and its further ones; none if its feed alone has the article, or if it is damaged."""
    parts: list[ArticlePage | FollowingPage] = [page, *page.following.all()]
    for part in parts:
        try:
            body = gzip.decompress(part.body)
        except (OSError, EOFError, zlib.error):
            continue
        if body:
            first = page.url if part is not page else ""
            yield ArchivedPage(part.url, part.content_type, body, page.fetched_at, first=first)
