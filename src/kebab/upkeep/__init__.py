"""What keeps a knowledge base sound? Checking and repairing it, following the store, moving and wiping it."""
