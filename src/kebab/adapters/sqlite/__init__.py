"""The truth in one SQLite file: documents, chunks, vectors, the outbox, the ledger, answers."""
