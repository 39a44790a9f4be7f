"""One module per format: bytes in, a document with blocks and line spans out."""
