"""How well and how fast people work, and what a manager does about it."""
