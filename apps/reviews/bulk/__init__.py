"""One thing done to many items at once."""
