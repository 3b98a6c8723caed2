"""What pages and commands draw."""
