"""How does a file come in? Scan the sources, parse, chunk, store, and bring the indexes up to date."""
