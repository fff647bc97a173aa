"""`manage.py make_editor NAME`: a login for an editor or an admin."""

from django.core.management.base import CommandParser

from newsdedup_site.management.commands import make_user


class Command(make_user.Command):
    help = (
        "Create a login for an editor (or, with --admin, an admin) with a random password, and print both. "
        "make_user does the same for any role."
    )

    def add_role_option(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--admin",
            dest="role",
            action="store_const",
            const="admin",
            default="editor",
            help="make an admin, who may also change newspapers, profiles and users",
        )
