"""The rooms joined to the engines as the settings say, a module for each; ``keeper`` does it for upkeep."""
