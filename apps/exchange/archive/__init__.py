"""A whole project as one file, to move it from one server to another."""
