"""Signatures by the Standard Webhooks specification (standardwebhooks.com), so that receivers can use its libraries."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

_PREFIX = "whsec_"
_RANDOM_BYTES = 32


def new_secret() -> str:
    """Return a random secret in the form of the specification."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_RANDOM_BYTES)).decode()


def signed_headers(secret: str, message: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers that identify and sign a request; `timestamp` in seconds since 1970."""
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    signed = b".".join([message.encode(), str(timestamp).encode(), body])
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {"webhook-id": message, "webhook-timestamp": str(timestamp), "webhook-signature": f"v1,{digest}"}
