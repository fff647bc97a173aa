"""How answers are written: JSON in UTF-8, errors as problem details by RFC 9457, ETags, and no caching for others."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from ninja import Schema
from ninja.renderers import JSONRenderer
from pydantic import Field

CONTENT_TYPE = "application/problem+json"


class UTF8Renderer(JSONRenderer):
    """JSON in which letters are letters, not escapes."""

    json_dumps_params: Mapping[str, Any] = {"ensure_ascii": False}


RENDERER = UTF8Renderer()


class Fault(Schema):
    """What is wrong with one value of a request."""

    where: str = Field(description="The place of the value, such as body/articles/0/url.")
    detail: str


class Problem(Schema):
    """An error."""

    type: str = "about:blank"
    title: str = Field(description="The name of the status.")
    status: int
    detail: str = Field(description="What is wrong, and what helps.")
    errors: list[Fault] = Field(default=[], description="The values that are wrong, one by one.")


class ProblemError(Exception):
    """An error to answer with."""

    def __init__(
        self, status: int, detail: str, *, errors: Sequence[Fault] = (), headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.errors, self.headers = status, detail, errors, headers or {}

    def answer(self) -> HttpResponse:
        """Return it as an answer."""
        body = problem_json(self.status, self.detail, self.errors)
        return HttpResponse(body, status=self.status, headers={"Content-Type": CONTENT_TYPE, **self.headers})


def invalid(*faults: Fault) -> ProblemError:
    """Return the error for wrong values of a request, whose first one it names."""
    return ProblemError(422, f"{faults[0].where}: {faults[0].detail}", errors=faults)


def refused(where: str, detail: str, *, summary: str = "") -> ProblemError:
    """Return the error for one value of a request that no type rules out."""
    return ProblemError(422, summary or detail, errors=[Fault(where=where, detail=detail)])


def problem_json(status: int, detail: str, errors: Sequence[Fault] = ()) -> bytes:
    """Return the body of an error."""
    title = HTTPStatus(status).phrase
    problem = Problem(title=title, status=status, detail=detail, errors=list(errors))
    return json.dumps(problem.model_dump(exclude_defaults=True) | {"type": problem.type}).encode()


def faults_in(errors: Sequence[Mapping[str, Any]]) -> list[Fault]:
    """Return what django-ninja found wrong with the values of a request."""
    return [
        Fault(where=_place(error["loc"]), detail=str(error["msg"]).removeprefix("Value error, ")) for error in errors
    ]


def _place(location: Sequence[Any]) -> str:
    """Return where a value is, without the name that the function has for the body."""
    first, *rest = location
    return "/".join(map(str, [first, *(rest[1:] if first == "body" else rest)]))


# ---- what all answers share --------------------------------------------------------------------------

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
