-- Counters: `revision` grows with the documents, `outbox_pruned` is what the outbox has forgotten.
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

-- The text of a file as it was indexed, or zlib over its UTF-8 (a blob); many paths may share one asset.
CREATE TABLE assets (asset_id TEXT PRIMARY KEY, text BLOB NOT NULL);

CREATE TABLE documents (
    doc_id TEXT PRIMARY KEY,
    source_id TEXT NOT NULL,
    path TEXT NOT NULL,
    asset_id TEXT NOT NULL REFERENCES assets (asset_id),
    title TEXT NOT NULL,
    lang TEXT NOT NULL,
    media TEXT NOT NULL,
    source_type TEXT NOT NULL,
    trust_level TEXT NOT NULL,
    repo TEXT,
    code_lang TEXT,
    tags TEXT NOT NULL,
    metadata TEXT NOT NULL,
    warnings TEXT NOT NULL,
    parser_version TEXT NOT NULL,
    chunker_version TEXT NOT NULL,
    chunk_count INTEGER NOT NULL,
    created_at TEXT,
    updated_at TEXT,
    indexed_at TEXT NOT NULL,
    UNIQUE (source_id, path)
);
CREATE INDEX documents_by_asset ON documents (asset_id);

CREATE TABLE document_tags (
    doc_id TEXT NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (doc_id, tag)
) WITHOUT ROWID;
CREATE INDEX document_tags_by_tag ON document_tags (tag);

-- What the unchanged test compares; apart from documents because it is read whole before every run.
CREATE TABLE files (
    source_id TEXT NOT NULL,
    path TEXT NOT NULL,
    doc_id TEXT NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    asset_id TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (source_id, path)
) WITHOUT ROWID;
CREATE INDEX files_by_doc ON files (doc_id);

-- `id` only ever grows, so that a scan for chunks without a vector can go on where it stopped.
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk_id TEXT NOT NULL UNIQUE,
    doc_id TEXT NOT NULL REFERENCES documents (doc_id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    text TEXT NOT NULL,
    heading_path TEXT NOT NULL,
    spans TEXT NOT NULL,
    block_ids TEXT NOT NULL,
    part INTEGER NOT NULL,
    token_estimate INTEGER NOT NULL,
    chunker_version TEXT NOT NULL,
    policy_hash TEXT NOT NULL,
    content_key TEXT NOT NULL
);
CREATE INDEX chunks_by_doc ON chunks (doc_id, ordinal);
CREATE INDEX chunks_by_content ON chunks (content_key);

-- What the indexes still have to do: topic is 'changed', 'removed' or 'vectors:<model>'.
CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    doc_id TEXT NOT NULL,
    topic TEXT NOT NULL
);

CREATE TABLE embedding_models (
    id INTEGER PRIMARY KEY,
    model_id TEXT NOT NULL,
    version TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    UNIQUE (model_id, version, dimensions)
);

-- Vectors by content, float32 little endian. A rowid table: the unique index stays small beside the blobs.
CREATE TABLE embeddings (
    id INTEGER PRIMARY KEY,
    model INTEGER NOT NULL REFERENCES embedding_models (id) ON DELETE CASCADE,
    content_key TEXT NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (model, content_key)
);

CREATE TABLE ingest_runs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL UNIQUE,
    run_json TEXT NOT NULL
);
CREATE TABLE ingest_items (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL REFERENCES ingest_runs (run_id) ON DELETE CASCADE,
    item_json TEXT NOT NULL
);
CREATE INDEX ingest_items_by_run ON ingest_items (run_id, seq);

CREATE TABLE answers (
    trace_id TEXT PRIMARY KEY,
    created_at TEXT NOT NULL,
    question TEXT NOT NULL,
    answer_json TEXT NOT NULL
);
CREATE INDEX answers_by_time ON answers (created_at);

CREATE TABLE eval_runs (run_id TEXT PRIMARY KEY, created_at TEXT NOT NULL, report_json TEXT NOT NULL);
CREATE INDEX eval_runs_by_time ON eval_runs (created_at);

-- Positions begin at the time of creation, in microseconds: an index left over from a deleted store can
-- never stand at a position that looks current in the new one.
INSERT INTO counters (name, value) VALUES
    ('revision', 0),
    ('outbox_pruned', CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER));
INSERT INTO sqlite_sequence (name, seq) SELECT 'outbox', value FROM counters WHERE name = 'outbox_pruned';
