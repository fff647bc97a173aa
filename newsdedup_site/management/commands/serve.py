"""`newsdedup serve PROJECT`: the pages of a project and a worker, for one person on this machine."""

import subprocess
import sys
from typing import Any

import waitress
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.core.wsgi import get_wsgi_application

from articles.management.arguments import number_up_to
from articles.management.base import ProjectCommand

_THREADS = 8
_ADMIN = "admin"


class Command(ProjectCommand):
    """Serve until Ctrl+C."""

    help = (
        "Serves the review pages of a project that newsdedup clean --keep PROJECT has made, with a worker, on this "
        "machine alone, until Ctrl+C. An installation for several people is in docs/running.md."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options. The project is chosen before Django starts (newsdedup/program.py)."""
        parser.add_argument("--port", type=number_up_to(65_535), default=8000, help="(default: %(default)s)")

    def handle(self, **options: Any) -> None:
        """Serve."""
        if not settings.IN_PROJECT:
            raise CommandError("Name the folder: newsdedup serve PROJECT. newsdedup clean --keep PROJECT makes one.")
        call_command("migrate", verbosity=0)
        if not User.objects.exists():
            call_command("make_editor", _ADMIN, "--admin", stdout=self.stdout)
        application = get_wsgi_application()
        try:
            server = waitress.create_server(application, host="127.0.0.1", port=options["port"], threads=_THREADS)
        except OSError as error:
            other = options["port"] % 65_535 + 1
            raise CommandError(
                f"Port {options['port']} cannot be used: {error.strerror}. Try --port {other}."
            ) from error
        worker = subprocess.Popen(
            [sys.executable, "-m", "newsdedup", "db_worker", "--interval", "2"], cwd=settings.BASE_DIR
        )
        try:
            self.stdout.write(f"The queue is at http://127.0.0.1:{options['port']}/queue/ (Ctrl+C ends it).")
            self.stdout.flush()
            server.run()
        finally:
            worker.terminate()
            worker.wait()
