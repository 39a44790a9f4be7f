"""Values and pure rules. Standard library only (and blake3, which the ids are made of)."""
