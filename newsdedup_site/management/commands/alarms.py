"""`manage.py alarms`: what is wrong now, for cron and for monitoring."""

import json
import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from articles.management.base import ExitCode, ProjectCommand
from dedup.integrations.webhooks import send_due
from newsdedup_site.alarms.finding import find_all
from newsdedup_site.alarms.kinds import facts_of, in_words, kind_of
from newsdedup_site.alarms.recording import deliver, recipients, tell
from newsdedup_site.models import Alarm


class Command(ProjectCommand):
    help = (
        "Print what an admin has to see to; exit with 1 if there is anything. A worker checks by itself every three "
        "minutes, but it cannot tell that it is dead: run this with --send from cron too."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--send", action="store_true", help="also record the alarms, and tell them by e-mail and webhooks"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object a line")
        parser.add_argument("--test", action="store_true", help="only send an e-mail, to see whether it arrives")

    def handle(self, **options: Any) -> None:
        if options["test"]:
            self._test()
            return
        now = timezone.now()
        found = find_all(now)
        for number, alarm in enumerate(found, start=1):
            following = found[number] if number < len(found) else None
            self.stdout.write(_json(alarm) if options["json"] else _text(alarm, following))
        if options["send"]:
            tell(found, now)
            send_due()
        if found:
            sys.exit(ExitCode.ERROR)
        if not options["json"]:
            self.stdout.write("No alarm.")

    def _test(self) -> None:
        to = recipients()
        if not to:
            raise CommandError(
                "Nobody is sent e-mails. Set EMAIL_URL and EMAIL_FROM, and ALARM_EMAIL or the address of an admin."
            )
        fault = deliver("[newsdedup] A test", "This is how newsdedup will tell you what needs an admin.\n", to)
        if fault:
            raise CommandError(f"The e-mail was not sent. {fault}")
        self.stdout.write(f"The mail server took an e-mail to {', '.join(to)}.")


def _text(found: Alarm, following: Alarm | None) -> str:
    """Return an alarm in words; what follows and what helps only after the last one of its kind."""
    since = f"\n  Since {in_words(found.since)}." if found.since else ""
    detail = f"\n  {' '.join(found.detail.split())}" if found.detail else ""
    if following and (following.kind, following.remedy) == (found.kind, found.remedy):
        return f"{found.what}{since}{detail}"
    return f"{found.what}{since}{detail}\n  What follows: {kind_of(found).follows}\n  What to do: {found.remedy}"


def _json(found: Alarm) -> str:
    facts = facts_of(found, "kind", "subject", "since", "what", "detail", "follows", "remedy", "address")
    return json.dumps(facts, ensure_ascii=False)
