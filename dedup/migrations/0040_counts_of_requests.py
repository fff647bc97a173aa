"""How many requests each token makes, for the limit of a minute."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dedup', '0039_kept_results_of_reports'),
    ]

    operations = [
        migrations.CreateModel(
            name='TokenUse',
            fields=[
                ('token', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='dedup.token')),
                ('minute', models.IntegerField(help_text='Minutes since 1970.')),
                ('used', models.IntegerField()),
            ],
        ),
    ]
