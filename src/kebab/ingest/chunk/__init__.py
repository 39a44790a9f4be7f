"""One module per chunking strategy: blocks in, chunks out."""
