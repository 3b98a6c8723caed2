"""What the agreement page shows of a report: whom to trust for what, in words and pictures."""
