"""From stored decisions and what became of offers to figures (paper 004, section 4)."""
