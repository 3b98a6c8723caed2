"""Labels that are in use are changed."""
