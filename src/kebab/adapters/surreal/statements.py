"""The longer statements. Each write checks that the revision is still the one it was prepared for.

``<table>`` stands for the table's name: the grammar takes no parameter there.
"""

from __future__ import annotations

SAVE = """
BEGIN TRANSACTION;
IF (SELECT VALUE seq FROM ONLY $meta) != $base { THROW $moved };
IF array::len($known) > 0 {
    DELETE used WHERE in IN $known RETURN NONE;
    DELETE led_to WHERE out IN $known AND origin = 'parent' RETURN NONE;
};
FOR $row IN $replaced { UPSERT $row.id CONTENT $row RETURN NONE };
INSERT INTO <table> $fresh RETURN NONE;
INSERT IGNORE INTO kg_documents $documents RETURN NONE;
INSERT RELATION INTO used $used RETURN NONE;
INSERT RELATION IGNORE INTO led_to $led_to RETURN NONE;
UPDATE $meta SET seq = $base + $count RETURN NONE;
COMMIT TRANSACTION;
"""

PRUNE = """
BEGIN TRANSACTION;
IF (SELECT VALUE seq FROM ONLY $meta) != $base { THROW $moved };
DELETE $ids RETURN NONE;
INSERT INTO kg_removed $removed ON DUPLICATE KEY UPDATE seq = $input.seq RETURN NONE;
UPDATE $meta SET seq = $base + $count RETURN NONE;
COMMIT TRANSACTION;
"""

CHANGES = """
BEGIN TRANSACTION;
SELECT VALUE seq FROM ONLY $meta;
SELECT * FROM <table> WHERE seq > $after ORDER BY seq LIMIT $limit;
SELECT * FROM kg_removed WHERE seq > $after;
COMMIT TRANSACTION;
"""

STATS = """
SELECT count() AS executions, count(success) AS successes, math::sum(cost_cents) AS cost,
    time::min(started_at) AS first, time::max(finished_at) AS last FROM kg_executions GROUP ALL;
SELECT count() FROM rlm_executions GROUP ALL;
SELECT agent_id FROM kg_executions GROUP BY agent_id;
SELECT task_type FROM kg_executions GROUP BY task_type;
SELECT provider FROM kg_executions GROUP BY provider;
SELECT count() FROM kg_documents GROUP ALL;
SELECT embedding_model, count() AS n FROM kg_executions GROUP BY embedding_model;
"""
