"""Pages: prompts, what they render to, variants of them and trials of these."""
