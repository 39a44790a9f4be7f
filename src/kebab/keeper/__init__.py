"""The upkeep room joined to the engines: one small class for each group of upkeep commands."""
