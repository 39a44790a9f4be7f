"""A publication in the collections of a Qdrant server or cluster."""
