"""A changed time of publication raises the revision of an article, as a changed day does."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('articles', '0011_newspapers_merge_and_have_aliases'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='article',
            name='revision',
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='article',
            trigger=pgtrigger.compiler.Trigger(name='revision', sql=pgtrigger.compiler.UpsertTriggerSql(func="NEW.revision = nextval('articles_article_revision'); RETURN NEW;", hash='223ab61b2863e70c98f2ac3d670b7c450846e2df', operation='INSERT OR UPDATE OF "newspaper_id", "date", "published_at", "content", "normalized_title", "normalized_text", "story_text", "topic_text"', pgid='pgtrigger_revision_5bf63', table='articles_article', when='BEFORE')),
        ),
    ]
