"""Newspapers have no owner and no edition of their own: collections say both."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0035_collections_of_newspapers'),
    ]

    operations = [
        migrations.RemoveField(model_name='newspaper', name='edition'),
        migrations.RemoveField(model_name='newspaper', name='owner'),
    ]
