"""What an agent should know before it starts: lines of documents, past runs and what to avoid."""
