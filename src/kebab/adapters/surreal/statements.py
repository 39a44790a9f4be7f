"""The longer statements. Each write checks that the revision is still the one it was prepared for.

``<table>`` stands for the table's name: the grammar takes no parameter there.
"""

from __future__ import annotations

PRESENT = """
SELECT VALUE seq FROM ONLY $meta;
SELECT VALUE record::id(id) FROM $keys.map(|$key| type::record('<table>', $key));
"""

# Ids and ends of edges arrive as plain strings and become record ids here: the SDK encodes those slowly.
SAVE = """
BEGIN TRANSACTION;
IF (SELECT VALUE seq FROM ONLY $meta) != $base { THROW $moved };
IF array::len($replaced) > 0 {
    LET $known = $replaced.map(|$row| type::record('<table>', $row.id));
    DELETE array::flatten($known.map(|$node| $node->used)) WHERE record::id(id) NOT IN $used RETURN NONE;
    DELETE array::flatten($known.map(|$node| $node<-led_to))
        WHERE origin = 'parent' AND record::id(id) NOT IN $led_to RETURN NONE;
    FOR $row IN $replaced { UPSERT type::record('<table>', $row.id) CONTENT $row RETURN NONE };
};
INSERT INTO <table> $fresh RETURN NONE;
INSERT IGNORE INTO kg_documents $documents.map(|$key| { id: $key }) RETURN NONE;
INSERT RELATION IGNORE INTO used $used.map(|$ends| {
    id: $ends,
    in: type::record('kg_executions', $ends[0]),
    out: type::record('kg_documents', $ends[1])
}) RETURN NONE;
INSERT RELATION IGNORE INTO led_to $led_to.map(|$ends| {
    id: $ends,
    in: type::record('kg_executions', $ends[0]),
    out: type::record('kg_executions', $ends[1]),
    origin: 'parent'
}) RETURN NONE;
UPDATE $meta SET seq = $base + $count RETURN NONE;
COMMIT TRANSACTION;
"""

LINK = """
INSERT RELATION IGNORE INTO led_to {
    id: [$cause, $effect],
    in: type::record('kg_executions', $cause),
    out: type::record('kg_executions', $effect),
    origin: 'stated'
} RETURN NONE;
"""

PRUNE = """
BEGIN TRANSACTION;
IF (SELECT VALUE seq FROM ONLY $meta) != $base { THROW $moved };
DELETE $keys.map(|$key| type::record('kg_executions', $key)) RETURN NONE;
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
