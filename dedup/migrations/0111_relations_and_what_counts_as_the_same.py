"""Pairs have a relation, and a profile says which relations count as the same instead of whether versions join."""

from django.db import migrations, models
from psycopg.sql import SQL

_DROP_VIEW = "DROP VIEW dedup_standing_link"
# The latest link of each two articles whose decision has not been undone, the state that it gives their pair, if any,
# and its effect on clusters. A question about one pair, or one article, is answered from the index link_latest.
# An answer with an effect on clusters needs a line of its own under effect; others need none.
_VIEW = SQL("""
CREATE VIEW dedup_standing_link AS
SELECT DISTINCT ON (link.left_id, link.right_id)
    link.left_id,
    link.right_id,
    link.kind,
    CASE link.kind
        WHEN 'must' THEN 'confirmed'
        WHEN 'cannot' THEN 'rejected'
        WHEN 'stay' THEN NULL
        ELSE link.kind::text
    END AS state,
    CASE link.kind
        WHEN 'must' THEN 'must'
        WHEN 'cannot' THEN 'cannot'
        WHEN 'stay' THEN 'stay'
        WHEN 'template' THEN 'cannot'
        WHEN 'version' THEN CASE
            WHEN (SELECT profile.{joins} FROM dedup_profile AS profile WHERE profile.is_default) THEN 'stay'
            ELSE 'cannot'
        END
    END AS effect,
    link.decision_id
FROM dedup_link AS link
WHERE NOT EXISTS (SELECT FROM dedup_decision AS undo WHERE undo.undoes_id = link.decision_id)
ORDER BY link.left_id, link.right_id, link.decision_id DESC
""")
_JOIN_BEFORE = _VIEW.format(joins=SQL("versions_join")).as_string()
_JOIN_NOW = _VIEW.format(joins=SQL("same_as = 'updates'")).as_string()
_MOVE = "UPDATE dedup_profile SET same_as = 'updates' WHERE versions_join"
_MOVE_BACK = "UPDATE dedup_profile SET versions_join = true WHERE same_as = 'updates'"
_RELATIONS = [(name, name) for name in ("copy", "contains", "update", "part", "template", "similar")]


class Migration(migrations.Migration):
    dependencies = [("dedup", "0110_watermarks")]

    operations = [
        migrations.RunSQL(_DROP_VIEW, _JOIN_BEFORE),
        migrations.AddField(
            "profile",
            "same_as",
            models.CharField(
                max_length=7,
                choices=[(name, name) for name in ("copies", "cropped", "states", "updates")],
                default="cropped",
                db_default="cropped",
                verbose_name="what counts as the same",
                help_text="Which pairs put their articles into one cluster. The default profile's choice counts; when "
                "you change it, a worker rebuilds the clusters from the stored pairs.",
            ),
        ),
        migrations.RunSQL(_MOVE, _MOVE_BACK),
        migrations.RemoveField("profile", "versions_join"),
        migrations.RunSQL(_JOIN_NOW, _DROP_VIEW),
        migrations.AddField(
            "pair",
            "relation",
            models.CharField(
                max_length=8,
                choices=_RELATIONS,
                blank=True,
                db_default="",
                help_text="What the two articles are to each other. Empty: not compared yet.",
            ),
        ),
        migrations.AddField(
            "pair",
            "relation_probability",
            models.FloatField(null=True, help_text="The probability of the relation, 0 to 1."),
        ),
        migrations.AddField(
            "pair",
            "left_own",
            models.PositiveIntegerField(
                null=True, help_text="How many words of the left article the right one lacks in matching sentences."
            ),
        ),
        migrations.AddField(
            "pair",
            "right_own",
            models.PositiveIntegerField(null=True, help_text="The same of the right article's words."),
        ),
        migrations.AddField(
            "pair",
            "new_text",
            models.CharField(
                max_length=6,
                blank=True,
                db_default="",
                help_text="Where most of the longer article's own words stand: head, middle or tail. Empty: it has "
                "none.",
            ),
        ),
        migrations.AddField(
            "pair",
            "quoted",
            models.FloatField(
                null=True,
                help_text="Of the words that match: the share in quotation marks in the longer article alone, 0 to 1.",
            ),
        ),
        migrations.AlterField(
            "pair",
            "joins",
            models.BooleanField(
                db_default=False, help_text="Whether the pair puts both articles in one cluster (Profile.same_as)."
            ),
        ),
    ]
