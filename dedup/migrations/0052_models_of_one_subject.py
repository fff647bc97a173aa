"""A model learnt with the features of an earlier version is switched off: the shipped one takes over."""

import json

from django.db import migrations

ADDED = "one subject for another throughout"
REMEDY = (
    "\n  Model {} was learnt without features that this version asks for. The shipped model is in use; "
    "manage.py fit_verdicts --switch-on learns from the same decisions again."
)


def switch_off(apps, schema_editor):
    for fitted in apps.get_model("dedup", "FittedModel").objects.filter(in_use=True):
        if ADDED not in json.loads(fitted.content)["questions"]["duplicate"]["coefficients"]:
            fitted.in_use = False
            fitted.save(update_fields=["in_use"])
            print(REMEDY.format(fitted.pk))  # noqa: T201 - migrate has no other way to say it


class Migration(migrations.Migration):
    dependencies = [("dedup", "0051_waiting_nights_and_alarms_to_webhooks")]
    operations = [migrations.RunPython(switch_off, migrations.RunPython.noop)]
