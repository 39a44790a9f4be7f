"""The execution memory on SurrealDB: an embedded folder by default, a server or cluster by URL."""
