"""The forms of a site's pages."""
