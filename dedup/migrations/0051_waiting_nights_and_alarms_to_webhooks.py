import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dedup', '0050_admins_import_files'),
    ]

    operations = [
        migrations.AddField(
            model_name='profile',
            name='nightly_waits_since',
            field=models.DateTimeField(editable=False, help_text='When the nightly run was due that waits until another run ends.', null=True),
        ),
        migrations.AlterField(
            model_name='webhook',
            name='events',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('cluster.new', 'a cluster is new'), ('cluster.changed', 'the articles of a cluster, or the one to keep, change'), ('cluster.confirmed', 'editors confirm a cluster'), ('alarm', 'something needs an admin: an alarm begins, lasts or is over')], max_length=20), size=None),
        ),
    ]
