"""The synchronizer: a task in progress survives a context window."""
