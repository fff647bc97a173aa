import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="KeyMap",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="key_map",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("on", models.BooleanField(default=True)),
                (
                    "keys",
                    models.JSONField(
                        default=dict, help_text="The chosen key by action, empty for none; others are as usual."
                    ),
                ),
            ],
        ),
    ]
