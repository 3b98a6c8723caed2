"""Looking up sites, authors and what is asked of them."""
