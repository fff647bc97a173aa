"""`manage.py remove_article`: removes an article with all that is stored of it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from django.core.management.base import CommandParser

from articles.management.base import ExitCode, LongCommand, usage_error
from articles.models import Article, Removal
from dedup.detection.runs.starting import RunActiveError
from dedup.management.arguments import add_user_option, chosen_user
from newsdedup_site.privacy.removal import Preview, RemovalError, begin_articles, carry_out, preview_article


class Command(LongCommand):
    help = (
        "Remove an article for good, with its pages, versions and pairs. Decisions keep who, when and what, without "
        "texts. Without --confirm, it only prints what would go."
    )
    exit_codes: ClassVar[Mapping[type[Exception], ExitCode]] = {
        RemovalError: ExitCode.USAGE,
        RunActiveError: ExitCode.ACTIVE,
    }
    resuming = "Run the command again with --resume to finish."

    # The argument that names what is removed, and what is typed again.
    named: ClassVar[dict[str, Any]] = {"metavar": "N", "type": int, "help": "number of the article"}
    confirmed_by = "the number of the article"

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare what is removed, and the options that every removal takes."""
        parser.add_argument("what", nargs="?", **self.named)
        parser.add_argument(
            "--confirm", metavar="TEXT", help=f"{self.confirmed_by}, typed again; without it, nothing is removed"
        )
        add_reason_options(parser)
        parser.add_argument(
            "--resume", metavar="N", type=int, help="finish removal N of the log, which was interrupted"
        )

    def found(self, what: Any) -> tuple[str, Preview, Callable[..., Removal]]:
        """Return what has to be typed to remove this, what goes then, and what begins it."""
        if not what or not Article.objects.filter(pk=what).exists():
            raise usage_error(f"there is no article {what}" if what else "name the number of the article")
        return str(what), preview_article(what), partial(begin_articles, [what])

    def handle(self, **options: Any) -> None:
        """Resume; or print what goes, and remove it if it is confirmed."""
        if options["resume"]:
            interrupted = Removal.objects.filter(pk=options["resume"]).first()
            if interrupted is None:
                raise usage_error(f"there is no removal {options['resume']}; the page Removals lists them")
            self.finish(interrupted, options)
            return
        wanted, preview, begin = self.found(options["what"])
        for label, number in (*preview.goes, *preview.changes):
            self.stdout.write(f"{label}: {number:,}")
        if options["confirm"] is None:
            self.stdout.write(f"Nothing was removed. To remove it for good, add --confirm {wanted!r} and --reason.")
            return
        if options["confirm"] != wanted:
            raise usage_error(f"--confirm is {options['confirm']!r}, not {wanted!r}; nothing was removed")
        self.finish(begin(reason=options["reason"] or "", user=chosen_user(options)), options)

    def finish(self, removal: Removal, options: dict[str, Any]) -> None:
        """Carry out a removal, and print what went."""
        with self.progress(options) as progress:
            task = progress.add_task("articles", total=None)
            done = carry_out(removal, lambda articles: progress.advance(task, articles))
        went = ", ".join(f"{number:,} {name}" for name, number in done.counts.items())
        self.stdout.write(f"Removal {done.pk} is done: {went or 'nothing was stored'}.")
        self.stdout.write("PostgreSQL keeps the space of removed rows until VACUUM FULL; backups still have the texts.")


def add_reason_options(parser: CommandParser) -> None:
    parser.add_argument("--reason", metavar="TEXT", help="who asked for it, and why; it stays in the log")
    add_user_option(parser)
