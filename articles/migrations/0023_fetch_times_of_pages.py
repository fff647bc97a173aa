"""A page of a web archive keeps the time of its own fetch. Changes no row."""

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0022_declared_urls'),
    ]

    operations = [
        migrations.AlterField(
            model_name='articlepage',
            name='fetched_at',
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
    ]
