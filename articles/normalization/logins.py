"""User names and passwords in URLs: a reader needs none of them, and a password is nobody else's business."""

import logging
import re

# Those of a URL, up to the last @ before the path (RFC 3986, 3.2), and those of a URL inside it.
_LOGIN = re.compile(
    r"\A(?P<head>[\x00-\x20]*+(?:https?:[/\\]*+|(?:[a-z][a-z0-9+.-]*+:)?+[/\\]{2,}+))[^/?#\\]*@", re.IGNORECASE
)
_INNER_LOGIN = re.compile(
    r"(?P<head>https?(?::|%3A)(?://|%2F%2F))(?:(?!%2F|%3F|%23)[^\s/?#&])*?(?::|%3A)(?:(?!%2F|%3F|%23)[^\s/?#&])*(?:@|%40)",
    re.IGNORECASE,
)
# In a sentence or a row of a file, where quotes and commas end a URL.
_LOGIN_IN_TEXT = re.compile(r"(?<=://)[^\s/?#\"'<>\\,;|]*@")


def without_login(url: str) -> str:
    """Return the URL without its user name and password; any other text unchanged. Idempotent.

    They are also left out of a URL inside it, as redirects and archives have one, if they have a password.
    """
    if "@" not in url and "%40" not in url:
        return url
    shorter = _INNER_LOGIN.sub(r"\g<head>", _LOGIN.sub(r"\g<head>", url))
    while shorter != url:
        url, shorter = shorter, _INNER_LOGIN.sub(r"\g<head>", _LOGIN.sub(r"\g<head>", shorter))
    return url


def without_logins(text: str) -> str:
    """Return a text without the user names and passwords of the URLs in it, such as a line of a log."""
    return _LOGIN_IN_TEXT.sub("", text) if "@" in text else text


class LogRecord(logging.LogRecord):
    """A record of a log whose message has no user names and passwords of URLs, whatever handler writes it."""

    def getMessage(self) -> str:  # noqa: N802 - the name in the standard library
        return without_logins(super().getMessage())
