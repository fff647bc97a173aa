"""A program: the process that crawls of the tests are forked from, so that they begin at once."""

import runpy
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.forked import serve

# The command, and what it would import only while it is at work.
IMPORTED = (
    "crawlers.management.commands.crawl",
    "crawlers.fetching.downloads",
    "crawlers.fetching.robots",
    "crawlers.article_store",
    "htmldate",
    "readability",
    "scrapy.core.downloader.middleware",
    "scrapy.extensions.feedexport",
    "scrapy.extensions.remote_control",
    "scrapy.pqueues",
    "scrapy.squeues",
    "tldextract",
)
ENGLISH = "The ferry to the islands sails at noon, because the harbour has ice on it until the tide comes in. " * 3


def main() -> None:
    sys.argv = ["manage.py", "crawl"]
    import_module("django").setup()
    for name in IMPORTED:
        import_module(name)
    # What is loaded with the first article: the model of languages, and the list of public suffixes.
    language = import_module("articles.normalization.language").detect_language
    assert language(ENGLISH) == "en", "too short a text loads no model"
    import_module("articles.normalization.urls").registered_name("paper.example")
    assert "twisted.internet.reactor" not in sys.modules, "each crawl needs a reactor of its own"
    serve(_crawl)


def _crawl(request: dict[str, Any]) -> None:
    import_module("django.conf").settings.CRAWL_STATE_DIR = Path(request["states"])
    sys.argv = ["manage.py", "crawl", *request["arguments"]]
    runpy.run_path("manage.py", run_name="__main__")


if __name__ == "__main__":
    main()
