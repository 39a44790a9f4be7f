"""Traces that agents leave anyway, read as executions: session logs and spans."""
