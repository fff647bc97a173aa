"""A program that calls the API with a token."""

import json
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client

from dedup.integrations.tokens import make_token, scopes_of


class Caller:
    """Calls the API with a token of a user that has these scopes; None: all that the user may have."""

    def __init__(self, user: User, *scopes: str) -> None:
        self.token, self.text = make_token(user, "a program", scopes or scopes_of(user))
        self.client = Client(raise_request_exception=False, headers={"Authorization": f"Bearer {self.text}"})

    def get(self, path: str, **headers: str) -> HttpResponse:
        return self.client.get(address(path), headers=dashed(headers))

    def post(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        sent = body if isinstance(body, str | bytes) else json.dumps({} if body is None else body)
        return self.client.post(address(path), sent, content_type="application/json", headers=dashed(headers))

    def send(self, method: str, path: str, body: Any = None) -> HttpResponse:
        return self.client.generic(method, address(path), json.dumps(body), content_type="application/json")

    def read(self, path: str) -> Any:
        """Return what a GET answers, which must be 200."""
        answer = self.get(path)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def pages(self, path: str) -> list[list[Any]]:
        """Return all pages of a list."""
        found = []
        while path:
            page = self.read(path)
            found.append(page["data"])
            path = page["next"] or ""
        return found


def address(path: str) -> str:
    return path if path.startswith("http") else f"/api/v1{path}"


def dashed(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def problem(answer: HttpResponse, status: int) -> str:
    """Return the detail of an error, which must have this status and be problem details."""
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    found = answer.json()
    assert found["status"] == status
    assert {"type", "title", "detail"} <= set(found)
    return found["detail"]
