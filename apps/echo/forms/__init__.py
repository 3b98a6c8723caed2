"""Forms of Echo's pages."""
