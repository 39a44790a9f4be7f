-- How many texts there are and how many of them have a vector, kept by whatever changes it: every search asks
-- how many are missing, and counting walks all chunks. `contents` is the number of different content keys,
-- `used` is the number of a model's vectors whose content a chunk has.
INSERT INTO counters (name, value) SELECT 'contents', count(DISTINCT content_key) FROM chunks;
ALTER TABLE embedding_models ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
UPDATE embedding_models SET used = (
    SELECT count(*) FROM embeddings e WHERE e.model = embedding_models.id
    AND EXISTS (SELECT 1 FROM chunks c WHERE c.content_key = e.content_key)
);

CREATE TRIGGER content_came AFTER INSERT ON chunks
WHEN (SELECT count(*) FROM (SELECT 1 FROM chunks WHERE content_key = NEW.content_key LIMIT 2)) = 1
BEGIN
    UPDATE counters SET value = value + 1 WHERE name = 'contents';
    UPDATE embedding_models SET used = used + 1 WHERE EXISTS (
        SELECT 1 FROM embeddings e WHERE e.model = embedding_models.id AND e.content_key = NEW.content_key
    );
END;

CREATE TRIGGER content_went AFTER DELETE ON chunks
WHEN NOT EXISTS (SELECT 1 FROM chunks WHERE content_key = OLD.content_key)
BEGIN
    UPDATE counters SET value = value - 1 WHERE name = 'contents';
    UPDATE embedding_models SET used = used - 1 WHERE EXISTS (
        SELECT 1 FROM embeddings e WHERE e.model = embedding_models.id AND e.content_key = OLD.content_key
    );
END;

CREATE TRIGGER vector_came AFTER INSERT ON embeddings
WHEN EXISTS (SELECT 1 FROM chunks WHERE content_key = NEW.content_key)
BEGIN
    UPDATE embedding_models SET used = used + 1 WHERE id = NEW.model;
END;

CREATE TRIGGER vector_went AFTER DELETE ON embeddings
WHEN EXISTS (SELECT 1 FROM chunks WHERE content_key = OLD.content_key)
BEGIN
    UPDATE embedding_models SET used = used - 1 WHERE id = OLD.model;
END;
