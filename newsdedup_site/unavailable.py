"""What the pages answer while the database is away: 503 with Retry-After, and what was typed, to send again.

The check of a load balancer says so too.

Django calls `handler500` for every error that nothing else has handled, in a view or in a middleware. A middleware of
our own would not see them all: each error becomes a response before an outer middleware gets it.
"""

import logging
import sys
from collections.abc import Callable

import psycopg
from django.db import DatabaseError, Error, InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.views import defaults
from django.views.decorators.cache import never_cache

from newsdedup_site import embedded

RETRY_SECONDS = 5
# A restart of the embedded server takes longer, if at all, after a crash with much to recover.
PATIENCE_SECONDS = 3
_SENTENCE = "The database is not available at the moment. Try again in a few seconds."
# SQLSTATE codes, appendix A of the PostgreSQL manual: the class of connection exceptions; the server stops, crashed,
# or does not accept connections yet; the database was dropped; the session was idle for too long.
_LOST_CLASS = "08"
_LOST = ("57P01", "57P02", "57P03", "57P04", "57P05", "25P03")
# Its class of missing resources: the disk or the memory is full, too many connections.
_SHORT_CLASS = "53"
# A form with a field whose name contains one of these is not shown again, in no part.
_SECRET = ("password", "passphrase", "secret", "token")

Answer = Callable[[HttpRequest], HttpResponse]


def answer_soon(get_response: Answer) -> Answer:
    """Middleware: no page waits longer than PATIENCE_SECONDS for the embedded server to start."""

    def answer(request: HttpRequest) -> HttpResponse:
        with embedded.answer_within(PATIENCE_SECONDS):
            return get_response(request)

    return answer


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer a request that failed: 503 if the database is away, otherwise 500. Call while handling the error."""
    if is_lost(sys.exc_info()[1], connected=_connected()):
        return unavailable(request)
    return defaults.server_error(request)


def is_lost(error: BaseException | None, *, connected: bool) -> bool:
    """Return whether an error means that the database is away, and not that it refused a statement.

    Not lost: a deadlock, a statement that took too long, a cursor used after it was closed. libpq gives no code if it
    loses the connection or cannot connect; then it is lost unless it is still `connected`.
    """
    if isinstance(error, embedded.EmbeddedServerError):
        return True
    if not isinstance(error, OperationalError | InterfaceError | psycopg.OperationalError | psycopg.InterfaceError):
        return False
    code = _code_of(error)
    if code is None:
        return not connected
    return code in _LOST or code.startswith(_LOST_CLASS)


def _code_of(error: BaseException) -> str | None:
    code: str | None = getattr(error.__cause__ if isinstance(error, Error) else error, "sqlstate", None)
    return code


class OneLine(logging.Filter):
    """Shortens what is logged of a database that is away or full to one line: each page and task would log a traceback.

    These are the requests that were answered with 503, and the tasks of a worker that failed for it.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Replace the traceback by the error's first line; let every record pass."""
        error = record.exc_info[1] if record.exc_info else None
        if error and (getattr(record, "status_code", None) == 503 or _says_it_all(error)):
            reason = next(iter(str(error).splitlines()), "")
            record.msg, record.args, record.exc_info = f"{record.getMessage()}: {reason}", (), None
        return True


def _says_it_all(error: BaseException) -> bool:
    """Return whether an error is about the database server, and no fault of the program whose place one would seek."""
    if not isinstance(error, OperationalError | psycopg.OperationalError):
        return False
    return is_lost(error, connected=False) or (_code_of(error) or "").startswith(_SHORT_CLASS)


def _connected() -> bool:
    """Return whether this thread has a connection that libpq believes to be open."""
    return connection.connection is not None and not connection.connection.closed


def unavailable(request: HttpRequest) -> HttpResponse:
    """Answer 503, in the format of the request; needs no database."""
    if request.GET.get("format") == "json" or request.get_preferred_type(["text/html", "application/json"]) == (
        "application/json"
    ):
        response: HttpResponse = JsonResponse({"error": _SENTENCE}, status=503)
    else:
        fields = typed_fields(request)
        shown = {
            "address": request.get_full_path(),
            "posted": request.method == "POST",
            "fields": fields,
            # Only for a form that has passed the check: another site must not get its fields signed.
            "csrf_token": get_token(request) if fields is not None else "",
        }
        # Without the request: context processors would ask the database who is logged in.
        response = HttpResponse(render_to_string("503.html", shown), status=503)
    response["Retry-After"] = str(RETRY_SECONDS)
    response["Cache-Control"] = "no-store"
    if request.headers.get("HX-Request") and request.method == "GET":
        # htmx shows nothing of an error; the browser loads the page itself.
        response["HX-Redirect"] = request.get_full_path()
    return response


def typed_fields(request: HttpRequest) -> list[tuple[str, str]] | None:
    """Return the fields of a posted form, to be sent again; None if it must not or cannot be shown again.

    That is a form that has not passed the check for forgery, one with a password, and one with files.
    """
    if request.method != "POST" or not getattr(request, "csrf_processing_done", False) or request.FILES:
        return None
    fields = [
        (name, value) for name, values in request.POST.lists() if name != "csrfmiddlewaretoken" for value in values
    ]
    secret = any(word in name.lower() for name, _ in fields for word in _SECRET)
    return None if secret or hasattr(request, "sensitive_post_parameters") else fields


@never_cache
def healthz(_request: HttpRequest) -> HttpResponse:
    """Answer 200 if the database answers, otherwise 503 within a few seconds."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError, embedded.EmbeddedServerError):
        retry = {"Retry-After": str(RETRY_SECONDS)}
        return HttpResponse("the database does not answer\n", content_type="text/plain", status=503, headers=retry)
    return HttpResponse("ok\n", content_type="text/plain")
