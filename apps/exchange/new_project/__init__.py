"""A new project out of a file or a template, on one page."""
