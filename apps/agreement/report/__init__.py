"""How far LLM, crowd, expert and author agree: the report, its page and its files."""
