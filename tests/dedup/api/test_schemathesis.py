"""Requests that nobody thought of: schemathesis draws them from the description of the API, and checks the answers."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import Case, GenerationMode
from schemathesis.config import (
    ChecksConfig,
    PositiveDataAcceptanceConfig,
    ProjectConfig,
    ProjectsConfig,
    SchemathesisConfig,
)

from dedup.integrations.webhooks import make_webhook
from dedup.review.answers.decisions import decide_pair
from newsdedup_site.wsgi import application
from tests.conftest import StoreArticle
from tests.dedup.api.callers import Caller
from tests.factories import make_cluster, make_run, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SEED = 13
EXAMPLES = 3
# What no schema can say: which cursors there are, which day is before another, whether a pair has changed meanwhile.
ACCEPTANCE = PositiveDataAcceptanceConfig(expected_statuses=["2xx", "401", "403", "404", "409", "412", "422", "428"])
CONFIG = ProjectConfig(checks=ChecksConfig(positive_data_acceptance=ACCEPTANCE))


@contextmanager
def one_connection() -> Iterator[None]:
    """Keep the connection of the test between requests, as Django's own test client does."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def call_all(headers: dict[str, str], numbers: dict[str, int], *, mode: GenerationMode, examples: int) -> set[int]:
    """Call every operation some times, and return the statuses that came. `numbers`: those of rows that there are."""
    config = SchemathesisConfig(projects=ProjectsConfig(default=CONFIG))
    schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", application, config=config)
    statuses: set[int] = set()
    for found in schema.get_all_operations():
        operation = found.ok()

        @seed(SEED)
        @settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(mode))
        def call(case: Case) -> None:
            statuses.add(case.call_and_validate(headers=headers).status_code)
            if mode is GenerationMode.POSITIVE and case.path_parameters:
                # Random numbers find nothing: once more, with those of rows that there are.
                case.path_parameters = {name: numbers[name] for name in case.path_parameters}
                statuses.add(case.call_and_validate(headers=headers).status_code)

        call()
    return statuses


def test_schemathesis_finds_nothing(store: StoreArticle, settings) -> None:
    settings.API_REQUESTS_A_MINUTE = 1_000_000
    articles = [store(date=f"2026-03-0{day}") for day in (1, 2, 3)]
    cluster = make_cluster(*articles)
    ada = Caller(make_user("ada", "admin"))
    pair = articles[0].pairs_as_left.first()
    decision = decide_pair(pair.pk, "confirm", user=ada.token.owner)
    numbers = {"article_id": articles[0].pk, "cluster_id": cluster.pk, "pair_id": pair.pk, "decision_id": decision.pk}
    numbers |= {"run_id": make_run().pk, "request_id": ada.post("/runs").json()["request"]["id"]}
    # What nobody receives: nothing is sent in tests.
    numbers["webhook_id"] = make_webhook(ada.token.owner, "https://receiver.example/", ["cluster.new"]).pk
    headers = {"Authorization": f"Bearer {ada.text}"}

    with one_connection():
        found = call_all(headers, numbers, mode=GenerationMode.POSITIVE, examples=EXAMPLES)
        assert {200, 404, 422} <= found
        found = call_all(headers, numbers, mode=GenerationMode.NEGATIVE, examples=EXAMPLES)
        assert 422 in found
        assert call_all({}, numbers, mode=GenerationMode.POSITIVE, examples=1) == {401}
