"""What people say to each other about items."""
