from django.db import migrations


class Migration(migrations.Migration):
    """Number the articles that were stored before revisions were counted, each with a revision of its own.

    They shared the revision 0, so that what looks for newer revisions than the last one it saw never saw them.
    """

    dependencies = [
        ("articles", "0026_urls_without_logins"),
    ]

    operations = [
        migrations.RunSQL(
            "UPDATE articles_article SET revision = nextval('articles_article_revision') WHERE revision = 0",
            migrations.RunSQL.noop,
        ),
    ]
