"""How is a question answered? Retrieve, gate, pack, prompt, generate, check."""
