"""What all answers of the API share: errors as problem details, ETags, and no caching for others."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers

from dedup.api.problems import CONTENT_TYPE, problem_json

PREFIX = "/api/"
# What Django and the middlewares answer by themselves, in a sentence for the reader of a log.
_DETAILS = {
    400: "The request cannot be read. Check its address, its headers and its body.",
    404: "There is nothing at this address. /api/v1/openapi.json lists all addresses.",
    405: "This address does not take this method. The header Allow names those it takes.",
    413: "The body is too large. Send less at once.",
    500: "The server failed. The fault is in its log; sending the same again may fail again.",
    503: "The database is not available at the moment. Try again in a few seconds.",
}


def api_answers(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware, outside all others: give the answers below PREFIX the form that programs expect."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if not request.path.startswith(PREFIX):
            return response
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            _explain(response)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        patch_vary_headers(response, ["Authorization"])
        if request.method == "GET" and response.status_code == HTTPStatus.OK:
            response["ETag"] = etag_of(response.content)  # type: ignore[attr-defined]
            return get_conditional_response(request, etag=response["ETag"], response=response) or response  # type: ignore[arg-type]
        return response

    return answer


def etag_of(content: bytes) -> str:
    """Return the ETag of an answer with this body."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def _explain(response: HttpResponseBase) -> None:
    """Turn an error of Django's into problem details; its headers stay."""
    if response.headers.get("Content-Type") == CONTENT_TYPE:
        return
    status = response.status_code
    response.content = problem_json(status, _DETAILS.get(status, f"{HTTPStatus(status).phrase}."))  # type: ignore[attr-defined]
    response["Content-Type"] = CONTENT_TYPE
    response["Content-Length"] = str(len(response.content))  # type: ignore[attr-defined]
