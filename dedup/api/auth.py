"""Who asks: the token in the header Authorization, and nothing else; and how many requests it may make in a minute.

The cookie of a session counts for nothing here, so no other site can use the login of a browser.
"""

import time
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from ninja.security import HttpBearer

from dedup.api.problems import ProblemError
from dedup.integrations.tokens import allows, find_token
from dedup.models import Token
from dedup.models.base import read_rows

# A check compares a text with thousands of articles.
CHECK_COST = 10
_SECONDS = 60
_COUNT_SQL = """
INSERT INTO dedup_tokenuse AS counted (token_id, minute, used) VALUES (%(token)s, %(minute)s, %(cost)s)
ON CONFLICT (token_id) DO UPDATE SET
    minute = EXCLUDED.minute,
    used = CASE WHEN counted.minute = EXCLUDED.minute THEN counted.used + EXCLUDED.used ELSE EXCLUDED.used END
RETURNING used
"""


class TokenRequest(HttpRequest):
    """A request with a token that works and has the scope of the operation."""

    auth: Token
    user: User


def wait_for(token: Token, cost: int) -> int:
    """Count a request that is as dear as `cost` simple ones; return how many seconds to wait, 0 if it may go on."""
    now = time.time()
    minute, passed = divmod(now, _SECONDS)
    ((used,),) = read_rows(_COUNT_SQL, token=token.pk, minute=int(minute), cost=cost)
    return 0 if used <= settings.API_REQUESTS_A_MINUTE else max(1, round(_SECONDS - passed))


class BearerToken(HttpBearer):
    """Lets requests pass whose token has a scope. `cost`: how many requests one counts as."""

    def __init__(self, scope: Token.Scope, *, cost: int = 1) -> None:
        super().__init__()
        self.scope, self.cost = scope, cost

    def __call__(self, request: HttpRequest) -> Any:
        """Return the token. Raises ProblemError: 401, 403 or 429."""
        return super().__call__(request) or self.authenticate(request, "")

    def authenticate(self, _request: HttpRequest, token: str) -> Token:
        """Return the token with this text. Raises ProblemError."""
        found = find_token(token)
        if found is None:
            raise ProblemError(
                401,
                "Send a token that works in the header “Authorization: Bearer …”; the page Tokens makes one.",
                headers={"WWW-Authenticate": 'Bearer realm="newsdedup"'},
            )
        if seconds := wait_for(found, self.cost):
            raise ProblemError(
                429,
                f"This token has made more than {settings.API_REQUESTS_A_MINUTE} requests in this minute. "
                f"Wait {seconds} seconds.",
                headers={"Retry-After": str(seconds)},
            )
        if not allows(found, self.scope):
            raise ProblemError(403, _missing(found, self.scope))
        return found


def _missing(token: Token, scope: Token.Scope) -> str:
    if scope in token.scopes:
        return f"The role of {token.owner} no longer allows “{scope}”. Ask an admin."
    return f"This token does not have the scope “{scope}”, only: {', '.join(token.scopes)}. Make another one."


READS = BearerToken(Token.Scope.READ)
CHECKS = BearerToken(Token.Scope.READ, cost=CHECK_COST)
STORES = BearerToken(Token.Scope.STORE)
DECIDES = BearerToken(Token.Scope.DECIDE)
RUNS = BearerToken(Token.Scope.RUN)
HOOKS = BearerToken(Token.Scope.WEBHOOKS)
