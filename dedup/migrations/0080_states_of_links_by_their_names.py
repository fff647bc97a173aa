"""A link of a new kind gives its pair the state of the same name, and names of answers may be longer."""

from django.db import migrations, models

_DROP_VIEW = "DROP VIEW dedup_standing_link"
# The latest link of each two articles whose decision has not been undone, the state that it gives their pair, if any,
# and its effect on clusters. A question about one pair, or one article, is answered from the index link_latest.
# An answer with an effect on clusters needs a line of its own under effect; others need none.
_VIEW = """
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
            WHEN (SELECT profile.versions_join FROM dedup_profile AS profile WHERE profile.is_default) THEN 'stay'
            ELSE 'cannot'
        END
    END AS effect,
    link.decision_id
FROM dedup_link AS link
WHERE NOT EXISTS (SELECT FROM dedup_decision AS undo WHERE undo.undoes_id = link.decision_id)
ORDER BY link.left_id, link.right_id, link.decision_id DESC
"""
_ANSWERS = [
    ("confirm", "duplicate"),
    ("version", "version"),
    ("template", "template"),
    ("reject", "not a duplicate"),
    ("unsure", "unsure"),
]
_LINKS = [
    ("must", "must be in one cluster"),
    ("cannot", "cannot be in one cluster"),
    ("stay", "stays in one cluster when another article is taken out"),
    ("version", "is another version of the same article"),
    ("template", "has the same form and other facts; cannot be in one cluster"),
    ("unsure", "left open"),
]
_STATES = [
    ("undecided", "undecided"),
    ("confirmed", "confirmed duplicate"),
    ("rejected", "not a duplicate"),
    ("version", "another version"),
    ("template", "a template"),
    ("unsure", "unsure"),
]


class Migration(migrations.Migration):
    dependencies = [("dedup", "0056_moved_tasks")]

    operations = [
        migrations.RunSQL(_DROP_VIEW, _VIEW),
        migrations.AlterField("link", "kind", models.CharField(choices=_LINKS, max_length=15)),
        migrations.RunSQL(_VIEW, _DROP_VIEW),
        migrations.AlterField(
            "pair",
            "state",
            models.CharField(
                choices=_STATES,
                default="undecided",
                help_text="What editors decided last, or what their decisions on other pairs imply. Decisions that "
                "were undone do not count.",
                max_length=15,
            ),
        ),
        migrations.AlterField(
            "secondreading",
            "first_kind",
            models.CharField(
                choices=_ANSWERS, help_text="What the first decision says about this pair.", max_length=15
            ),
        ),
        migrations.AlterField("secondreading", "kind", models.CharField(choices=_ANSWERS, max_length=15)),
        migrations.AlterField(
            "batch", "kind", models.CharField(choices=_ANSWERS, help_text="The answer for the whole.", max_length=15)
        ),
    ]
