"""The view that runs and reviews read decisions through."""

from django.db import migrations

# The latest link of each two articles whose decision has not been undone, and the state it gives their pair, if any.
# A question about one pair, or one article, is answered from the index link_latest.
CREATE = """
CREATE VIEW dedup_standing_link AS
SELECT DISTINCT ON (link.left_id, link.right_id)
    link.left_id,
    link.right_id,
    link.kind,
    CASE link.kind
        WHEN 'must' THEN 'confirmed'
        WHEN 'cannot' THEN 'rejected'
        WHEN 'unsure' THEN 'unsure'
    END AS state
FROM dedup_link AS link
WHERE NOT EXISTS (SELECT FROM dedup_decision AS undo WHERE undo.undoes_id = link.decision_id)
ORDER BY link.left_id, link.right_id, link.decision_id DESC
"""


class Migration(migrations.Migration):
    dependencies = [("dedup", "0001_pairs_clusters_decisions")]
    operations = [migrations.RunSQL(CREATE, "DROP VIEW dedup_standing_link")]
