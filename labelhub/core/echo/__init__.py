"""Echo: what to ask authors, and what to offer them, learnt while it runs (paper 004, section 3).

Two signals, kept apart: what authors answer teaches the feature models and how far to trust them;
what became of an offer teaches which features matter. Plain values in, plain values out: what
stores events, talks to models and shows offers is ``apps.echo``.
"""
