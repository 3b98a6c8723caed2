"""Echo's pages of a site."""
