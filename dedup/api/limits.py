"""How many requests a token may make in a minute, counted in the database, so that all processes count together."""

from __future__ import annotations

import time

from django.conf import settings
from django.db import connection

from dedup.models import Token

_SECONDS = 60
_COUNT_SQL = """
INSERT INTO dedup_tokenuse AS counted (token_id, minute, used) VALUES (%(token)s, %(minute)s, %(cost)s)
ON CONFLICT (token_id) DO UPDATE SET
    minute = EXCLUDED.minute,
    used = CASE WHEN counted.minute = EXCLUDED.minute THEN counted.used + EXCLUDED.used ELSE EXCLUDED.used END
RETURNING used
"""


def wait_for(token: Token, cost: int) -> int:
    """Count a request that is as dear as `cost` simple ones; return how many seconds to wait, 0 if it may go on."""
    now = time.time()
    minute, passed = divmod(now, _SECONDS)
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_SQL, {"token": token.pk, "minute": int(minute), "cost": cost})
        (used,) = cursor.fetchone()
    return 0 if used <= settings.API_REQUESTS_A_MINUTE else max(1, round(_SECONDS - passed))
