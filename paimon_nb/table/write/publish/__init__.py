"""From commit messages to a published snapshot: changes, conflict checks, manifests and the retry loop."""
