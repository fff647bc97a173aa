"""Takes user names and passwords out of the URLs of waiting links, sources, trials and examples of failures."""

import re

from django.db import migrations
from django.db.models import Q

# As in articles/normalization/logins.py when this was written. Sources with a login were never visited.
LOGIN_IN_TEXT = re.compile(r"(?<=://)[^\s/?#\"'<>\\,;|]*@")


def clean_all(apps, _schema_editor):
    """Clean the columns with URLs, and the JSON with examples."""
    apps.get_model("crawlers", "sourcevalidator").objects.filter(url__regex="://[^/?#]*@").delete()
    for name in ("pendinglink", "trial"):
        model = apps.get_model("crawlers", name)
        for row in model.objects.filter(Q(url__contains="@")).only("url"):
            row.url = LOGIN_IN_TEXT.sub("", row.url)
            row.save(update_fields=["url"])
    for visit in apps.get_model("crawlers", "visit").objects.exclude(failures=[]).only("failures"):
        if any("@" in failure.get("url", "") for failure in visit.failures):
            visit.failures = [{**failure, "url": LOGIN_IN_TEXT.sub("", failure.get("url", ""))} for failure in visit.failures]
            visit.save(update_fields=["failures"])


class Migration(migrations.Migration):
    dependencies = [("crawlers", "0010_trials"), ("articles", "0026_urls_without_logins")]

    operations = [migrations.RunPython(clean_all, migrations.RunPython.noop)]
