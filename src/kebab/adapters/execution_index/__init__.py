"""The execution memory's derived indexes: words by tantivy, vectors by exact scan over SQLite and numpy."""
