"""Reasons, findings and questions as people read them."""
