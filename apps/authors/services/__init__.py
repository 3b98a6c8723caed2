"""Changes to sites, authors, messages, questions and answers."""
