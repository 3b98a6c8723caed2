"""The queue: handing items out, taking answers in, undoing them; the plan by which it runs."""
