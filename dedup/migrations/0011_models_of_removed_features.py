"""A learnt model that leans on a number the program no longer computes is switched off: the shipped one takes over."""

import json

from django.db import migrations

REMOVED = ("words kept", "numbers replaced on another day")
REMEDY = (
    "\n  Model {} was learnt with features that this version no longer has. The shipped model is in use; "
    "manage.py fit_verdicts --switch-on learns from the same decisions again."
)


def switch_off(apps, schema_editor):
    for fitted in apps.get_model("dedup", "FittedModel").objects.filter(in_use=True):
        questions = json.loads(fitted.content)["questions"].values()
        if any(question["coefficients"].get(name) for question in questions for name in REMOVED):
            fitted.in_use = False
            fitted.save(update_fields=["in_use"])
            print(REMEDY.format(fitted.pk))  # noqa: T201 - migrate has no other way to say it


class Migration(migrations.Migration):
    dependencies = [("dedup", "0010_paths_of_queued_tasks")]
    operations = [migrations.RunPython(switch_off, migrations.RunPython.noop)]
