"""A small SMTP server on loopback, for what newsdedup sends by e-mail."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage

from tests.serving import running


class MailServer(socketserver.ThreadingTCPServer):
    """Takes e-mails, or refuses every recipient while `refusing`."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.received: list[tuple[list[str], EmailMessage]] = []
        self.came = threading.Event()
        self.refusing = False

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def text(self, number: int = -1) -> str:
        """Return the text of an e-mail."""
        return str(self.received[number][1].get_content())


class _Session(socketserver.StreamRequestHandler):
    """One connection, by RFC 5321 as far as a client needs it that sends one e-mail."""

    server: MailServer

    def handle(self) -> None:
        self._say("220 mail.example ESMTP")
        to: list[str] = []
        for line in self.rfile:
            words = line.decode().strip()
            verb = words[:4].upper()
            if verb == "RCPT":
                if self.server.refusing:
                    self._say("550 5.7.1 relaying denied")
                    continue
                to.append(words.partition("<")[2].rstrip(">"))
            if verb == "DATA":
                self._say("354 go on")
                self.server.received.append((to, self._read()))
                self.server.came.set()
            self._say("221 bye" if verb == "QUIT" else "250 ok")
            if verb == "QUIT":
                return

    def _read(self) -> EmailMessage:
        lines = []
        for line in self.rfile:
            if line == b".\r\n":
                break
            lines.append(line[1:] if line.startswith(b"..") else line)
        message = message_from_bytes(b"".join(lines), policy=policy.default)
        assert isinstance(message, EmailMessage)
        return message

    def _say(self, words: str) -> None:
        self.wfile.write(f"{words}\r\n".encode())


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """Run a server until the end of the block."""
    with running(MailServer()) as server:
        yield server
