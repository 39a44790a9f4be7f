-- A few numbers of each text by which near-copies are recognised, see ingest/sketch. What was stored before has
-- none; the next run makes them from the texts.
CREATE TABLE sketches (
    asset_id TEXT PRIMARY KEY REFERENCES assets (asset_id) ON DELETE CASCADE,
    numbers BLOB NOT NULL
) WITHOUT ROWID;
