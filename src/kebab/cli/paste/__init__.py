"""Texts to paste elsewhere: an agent's skill, lines for AGENTS.md, units of a system."""
