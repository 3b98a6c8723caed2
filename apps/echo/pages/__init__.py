"""What each page shows, by part."""
