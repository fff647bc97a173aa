"""`newsdedup serve PROJECT`: the pages of a project and a worker, for one person on this machine."""

import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import waitress
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.core.wsgi import get_wsgi_application

from articles.management.arguments import number_up_to
from articles.management.base import ProjectCommand

_HOST, _THREADS = "127.0.0.1", 8
LAST_PORT = 65_535


class Command(ProjectCommand):
    """Serve until Ctrl+C."""

    help = (
        "Serves the review pages of a project that newsdedup clean --keep PROJECT has made, with a worker, to this "
        "machine alone, until Ctrl+C. docs/running.md has an installation for several people."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options. The project is chosen before Django starts (newsdedup/program.py)."""
        parser.add_argument(
            "--port", type=number_up_to(LAST_PORT), default=8000, help="port of the pages (default: %(default)s)"
        )

    def handle(self, **options: Any) -> None:
        """Serve."""
        if not settings.TRIAL:
            raise CommandError("This serves one person. docs/running.md has an installation with DATABASE_URL.")
        port = options["port"]
        try:
            server = waitress.create_server(get_wsgi_application(), host=_HOST, port=port, threads=_THREADS)
        except OSError as error:
            remedy = f"Choose another one, such as --port {port % LAST_PORT + 1}."
            raise CommandError(f"Port {port} cannot be used: {error.strerror}. {remedy}") from error
        # So that the worker ends, too.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            self.prepare(options)
            worker = subprocess.Popen(
                [sys.executable, "-m", "newsdedup", "db_worker", "--interval", "2"], cwd=settings.BASE_DIR
            )
            try:
                self.stdout.write(f"The queue is at http://{_HOST}:{port}/queue/ (Ctrl+C ends it).")
                self.stdout.flush()
                server.run()
            finally:
                worker.terminate()
                worker.wait()
        finally:
            server.close()

    def prepare(self, _options: Mapping[str, Any]) -> None:
        """Do what comes before the pages: the tables, and somebody who can log in."""
        call_command("migrate", verbosity=0)
        if not User.objects.exists():
            call_command("make_editor", "admin", "--admin", stdout=self.stdout)
