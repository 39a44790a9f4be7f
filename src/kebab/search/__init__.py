"""How is a chunk found, and why? Analysis, the two legs, their fusion and its explanation."""
