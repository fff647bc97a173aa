"""The API as a whole: its routes, its errors, and its description in OpenAPI."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from dedup.api import articles, checks, clusters, pairs, runs, webhooks
from dedup.api.problems import CONTENT_TYPE, RENDERER, Problem, ProblemError, faults_in, invalid, refused
from dedup.integrations.webhooks import WebhookError
from dedup.review.answers.decisions import ReviewError

_DESCRIPTION = (
    "The articles, pairs, clusters, decisions and runs of this newsdedup. Send a token of the page Tokens in the "
    "header “Authorization: Bearer …”. Errors are problem details (RFC 9457). Lists come in pages: follow `next`."
)


class API(NinjaAPI):
    """The API of django-ninja, with short names for operations, and the errors of each in its description."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Return the name of the function."""
        return str(operation.view_func.__name__)

    def get_openapi_schema(self, **given: Any) -> OpenAPISchema:
        """Return the description, with the errors that each operation can answer."""
        schema = super().get_openapi_schema(**given)
        problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        schema["components"]["schemas"] |= {"Problem": problem, **problem.pop("$defs")}
        content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        for path, methods in schema["paths"].items():
            for operation in methods.values():
                for status in sorted(_statuses(path, operation)):
                    operation["responses"][status] = {"description": HTTPStatus(status).phrase, "content": content}
        return schema


def _statuses(path: str, operation: dict[str, Any]) -> set[int]:
    """Return the errors that every operation can answer, and those that depend on what it is sent."""
    statuses = {401, 403, 422, 429, 500, 503}
    if "requestBody" in operation:
        statuses |= {400, 413}
    if "{" in path or operation["operationId"] in ("find_article", "check_text"):
        statuses.add(404)
    if operation["operationId"] == "undo_decision":
        statuses.add(409)
    for parameter in operation["parameters"]:
        if parameter["name"] == "If-Match":
            parameter["required"] = True
            statuses |= {409, 412, 428}
    return statuses


api = API(
    title="newsdedup", version="1", description=_DESCRIPTION, urls_namespace="api", docs_url=None, renderer=RENDERER
)
for prefix, router in (
    ("/articles", articles.router),
    ("/clusters", clusters.router),
    ("/stories", clusters.stories),
    ("/pairs", pairs.pairs),
    ("/decisions", pairs.decisions),
    ("/check", checks.router),
    ("/runs", runs.router),
    ("/run-requests", runs.requests),
    ("/webhooks", webhooks.router),
):
    api.add_router(prefix, router)


# What is raised, as the problem that is answered.
_PROBLEMS: dict[type[Exception], Callable[[Any], ProblemError]] = {
    ProblemError: lambda error: error,
    ValidationError: lambda error: invalid(*faults_in(error.errors)),
    ReviewError: lambda error: ProblemError(409, str(error)),
    WebhookError: lambda error: refused("body", str(error)),
    Http404: lambda error: ProblemError(404, str(error)),
    HttpError: lambda error: ProblemError(error.status_code, f"{error}. Send JSON in UTF-8."),
    RequestDataTooBig: lambda _error: ProblemError(
        413,
        f"The body is larger than {settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 1_000_000} MB. Send fewer articles at once.",
    ),
}


def _answer(_request: HttpRequest, error: Any) -> HttpResponse:
    kind = next(kind for kind in _PROBLEMS if isinstance(error, kind))
    return _PROBLEMS[kind](error).answer()


for raised in _PROBLEMS:
    api.add_exception_handler(raised, _answer)


@api.exception_handler(Exception)
def _failed(_request: HttpRequest, error: Any) -> HttpResponse:
    """Let Django log the error; dedup/api/problems.py puts the answer into form."""
    raise error
