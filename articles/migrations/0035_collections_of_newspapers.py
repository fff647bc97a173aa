"""Collections of newspapers; the owner and the edition of a newspaper become collections."""

from django.db import migrations, models

KINDS = ('owner', 'edition')


def move_into_collections(apps, schema_editor):
    """Put each newspaper into the collection of its owner, and into that of its edition."""
    newspapers = apps.get_model('articles', 'Newspaper').objects
    collections = apps.get_model('articles', 'Collection').objects
    for kind in KINDS:
        for newspaper in newspapers.exclude(**{kind: ''}).order_by('pk').only(kind):
            name = ' '.join(getattr(newspaper, kind).split())
            if name:
                collections.get_or_create(kind=kind, name=name)[0].newspapers.add(newspaper)


def move_back(apps, schema_editor):
    """Give newspapers the owner and the edition that collections say; other collections are lost."""
    for collection in apps.get_model('articles', 'Collection').objects.filter(kind__in=KINDS):
        collection.newspapers.update(**{collection.kind: collection.name})


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0034_words_of_articles'),
    ]

    operations = [
        migrations.CreateModel(
            name='Collection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(help_text='Owner, edition, country, or a word of your own, such as paper or region. A newspaper is in at most one collection of each kind.', max_length=50, verbose_name='what it groups by')),
                ('name', models.CharField(help_text='Such as the name of the owner or of the country.', max_length=200)),
                ('newspapers', models.ManyToManyField(help_text='Those that belong to it.', related_name='collections', to='articles.newspaper')),
            ],
            options={
                'ordering': ['kind', 'name'],
                'constraints': [models.UniqueConstraint(fields=('kind', 'name'), name='collection_once', violation_error_message='There is a collection of this kind and name already.')],
            },
        ),
        migrations.RunPython(move_into_collections, move_back),
    ]
