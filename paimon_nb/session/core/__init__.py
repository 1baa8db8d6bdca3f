"""A session's state, a statement's result and the session's running jobs."""
