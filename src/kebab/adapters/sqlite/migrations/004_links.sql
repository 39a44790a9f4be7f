-- The links of each document as they were written. Which document a link means is decided when it is read;
-- `key` is the last part of its target as `name_key` folds it, so that links to a note are found by its names.
CREATE TABLE links (
    doc_id TEXT NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    line INTEGER NOT NULL,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (doc_id, ordinal)
) WITHOUT ROWID;
CREATE INDEX links_by_key ON links (key);

-- What was stored before has its links still to be read: the next run reads these files again.
UPDATE files SET fingerprint = '' WHERE doc_id IN (SELECT doc_id FROM documents WHERE media = 'markdown');
