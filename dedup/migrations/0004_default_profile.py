"""A profile to begin with: every setting at its default."""

from django.db import migrations


def make_profile(apps, schema_editor):
    Profile = apps.get_model("dedup", "Profile")
    if not Profile.objects.exists():
        Profile.objects.create(name="default", is_default=True)


class Migration(migrations.Migration):
    dependencies = [("dedup", "0003_editor_and_admin_groups")]
    operations = [migrations.RunPython(make_profile, migrations.RunPython.noop)]
