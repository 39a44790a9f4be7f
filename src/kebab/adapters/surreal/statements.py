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
    LET $dropped = array::distinct(array::flatten($known.map(|$node| $node->used.out)));
    DELETE array::flatten($known.map(|$node| $node->used)) WHERE record::id(id) NOT IN $used RETURN NONE;
    DELETE array::flatten($known.map(|$node| $node<-led_to))
        WHERE origin = 'parent' AND record::id(id) NOT IN $led_to RETURN NONE;
    DELETE $dropped WHERE count(<-used) = 0 RETURN NONE;
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
<journal>
COMMIT TRANSACTION;
"""

LINK = """
BEGIN TRANSACTION;
INSERT RELATION IGNORE INTO led_to {
    id: [$cause, $effect],
    in: type::record('kg_executions', $cause),
    out: type::record('kg_executions', $effect),
    origin: 'stated'
} RETURN NONE;
<journal>
COMMIT TRANSACTION;
"""

JOURNAL = "IF $journal != NONE { UPDATE kg_meta:store SET journal = $journal RETURN NONE };"
"""How far the journal is in the store, noted in the transaction that brought it there."""

REMOVE = """
BEGIN TRANSACTION;
IF (SELECT VALUE seq FROM ONLY $meta) != $base { THROW $moved };
LET $nodes = $keys.map(|$key| type::record('<table>', $key));
LET $documents = array::distinct(array::flatten($nodes.map(|$node| $node->used.out)));
DELETE $nodes RETURN NONE;
DELETE $documents WHERE count(<-used) = 0 RETURN NONE;
INSERT INTO kg_removed $removed ON DUPLICATE KEY UPDATE seq = $input.seq RETURN NONE;
FOR $day IN $days {
    UPSERT type::record('kg_days', $day.key) SET
        agent_id = $day.agent_id, task_type = $day.task_type, day = $day.day,
        runs = (runs ?? 0) + $day.runs, successes = (successes ?? 0) + $day.successes,
        quality = (quality ?? 0f) + $day.quality, latency_ms = (latency_ms ?? 0f) + $day.latency_ms,
        cost_cents = (cost_cents ?? 0f) + $day.cost_cents, total = (total ?? 0f) + $day.total,
        squares = (squares ?? 0f) + $day.squares
        RETURN NONE;
};
UPDATE $meta SET seq = $base + $count RETURN NONE;
<journal>
COMMIT TRANSACTION;
"""

OUTDATED = {
    "kg_executions": "SELECT VALUE record::id(id) FROM kg_executions WHERE finished_at < $before "
    "OR (expires_at != NONE AND expires_at <= $expired_at)",
    "rlm_executions": "SELECT VALUE record::id(id) FROM rlm_executions WHERE recorded_at < $before",
}

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
