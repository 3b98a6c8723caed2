"""Echo at a site: choosing, keeping the log, learning from it."""
