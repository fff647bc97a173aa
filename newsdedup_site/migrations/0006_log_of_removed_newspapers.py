"""Takes the whitelisted sentences of removed newspapers from the log: removals looked for them under another key."""

from django.db import migrations

SCRUB_SQL = """
UPDATE django_admin_log AS entry SET object_repr = 'removed'
FROM articles_removal AS removal, django_content_type AS kind
WHERE kind.id = entry.content_type_id AND kind.app_label = 'articles' AND kind.model = 'whitelistedsentence'
  AND removal.state = 'done' AND split_part(entry.object_id, ' ', 1) = ANY (removal.newspaper_ids::text[])
"""


class Migration(migrations.Migration):
    dependencies = [
        ("newsdedup_site", "0005_when_people_were_notified"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("articles", "0034_words_of_articles"),
    ]
    operations = [migrations.RunSQL(SCRUB_SQL, migrations.RunSQL.noop)]
