-- A chunk's text is a place in its document's, in characters; `text` is '' then. A text that stands nowhere
-- in it is kept in `text`, without a place.
ALTER TABLE chunks ADD COLUMN start INTEGER;
ALTER TABLE chunks ADD COLUMN length INTEGER;

-- A hash over all rows of the document and its text: what rots is found.
ALTER TABLE documents ADD COLUMN seal BLOB;

-- How the model's vectors lie in `embeddings`: 'int12' or 'float32', a checksum of four bytes behind it.
ALTER TABLE embedding_models ADD COLUMN form TEXT NOT NULL DEFAULT 'float32';
