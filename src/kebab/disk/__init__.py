"""kebab's own files on disk: private to one user, never opened through a link, never left behind."""
