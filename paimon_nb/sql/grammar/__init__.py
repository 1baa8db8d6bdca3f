"""One file a family of statements; each function reads a cursor and gives a plan."""
