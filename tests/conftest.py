"""What tests of every package use."""

import datetime
import faulthandler
import gc
import signal
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from django.db import transaction
from django.test import TransactionTestCase, override_settings
from pytest_django import DjangoDbBlocker

from articles.models import Article
from articles.normalization.times import written_time
from articles.storage.incoming import Details, IncomingArticle
from tests import initial_rows, layers, migrated_database
from tests.factories import store_article

# A shell starts background jobs with interrupts ignored, and the processes that tests interrupt would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

StoreArticle = Callable[..., Article]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options for the tests that are left out unless they are named."""
    parser.addoption("--all", action="store_true", help="run also the tests marked slow")
    parser.addoption("--soak", action="store_true", help="run also the tests marked slow and soak")
    parser.addoption("--layers", action="store_true", help="print which tests run in which layer, and run none")


def pytest_configure(config: pytest.Config) -> None:
    """Run slow tests with --all, with --soak, or where tests are named."""
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    config.option.all = config.option.all or config.option.soak or named
    layers.effort("--soak" if config.option.soak else "--all" if config.option.all else "script/test")
    if config.option.layers:
        config.option.all = config.option.soak = True
        config.pluginmanager.register(layers)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of the layers that are not asked for."""
    wanted = {"script/test", "--all" if config.option.all else "", "--soak" if config.option.soak else ""}
    left_out = [item for item in items if layers.layer_of(item) not in wanted]
    items[:] = [item for item in items if layers.layer_of(item) in wanted]
    config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish() -> None:
    """Let no later collection of garbage look through all modules and tests again."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a test that may take longer than others have its time: pytest would end its process before."""
    if item.get_closest_marker("timeout"):
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="session", autouse=True)
def _quick_clients() -> Iterator[None]:
    """Hash passwords in a microsecond, not in the half second that slows down a guesser.

    Look for a static file when it is asked for, not for all of them with each client's first request.
    """
    hashers = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    with override_settings(PASSWORD_HASHERS=hashers, WHITENOISE_AUTOREFRESH=True):
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Make the test database from one that is already migrated."""
    with django_db_blocker.unblock():
        migrated_database.use()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Make the test database, whose first rows every test finds, also after one whose transactions end."""
    with django_db_blocker.unblock():
        initial_rows.keep()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _case: initial_rows.put_back())
        yield


@pytest.fixture(scope="module")
def module_db(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[DjangoDbBlocker]:
    """A transaction around the tests of a module: what its fixtures of that scope store, each of its tests finds.

    They store within `module_db.unblock()`. Each test has a transaction in this one, as always. This is not for tests
    whose own transactions end.
    """
    around = transaction.atomic()
    around._from_testcase = True
    with django_db_blocker.unblock():
        around.__enter__()
    yield django_db_blocker
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        around.__exit__(None, None, None)


@pytest.fixture
def store() -> StoreArticle:
    """Return a function that stores an article through ingest; what a test does not name is made up."""
    return storing()


def storing() -> StoreArticle:
    """Return the function that `store` is, for fixtures of modules."""
    numbers = count(1)

    def _store(
        content: str = "",
        *,
        newspaper: str = "Harbour Post",
        date: str = "2026-03-02",
        headline: str | None = None,
        url: str | None = None,
        external_id: str = "",
        time: str = "",
        extra_columns: str = "",
        **details: Any,
    ) -> Article:
        number = next(numbers)
        stored = store_article(
            IncomingArticle(
                date=datetime.date.fromisoformat(date),
                headline=f"Headline number {number} of the day" if headline is None else headline,
                url=url or f"https://paper.example/{date.replace('-', '/')}/story-number-{number}",
                content=content or f"Text number {number}, which is like no other text of the {number}th kind.",
                newspaper=newspaper,
                external_id=external_id,
                extra_columns=extra_columns,
                details=Details(**details).with_time(written_time(time)),
            )
        )
        return Article.objects.get(pk=stored.article_id)

    return _store
