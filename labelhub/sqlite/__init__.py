"""Django's SQLite backend, with writers of one process waiting in line."""
