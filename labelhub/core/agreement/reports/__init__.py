"""What a project's labels say about its annotators: pure functions of a ``Sheet``.

``sheet`` is the ledger as arrays; ``within`` measures a kind against itself, ``between`` two kinds
or two annotators, ``against`` a kind against a truth (gold, or the author); ``divided`` finds the
items that divide people. ``report`` puts the whole together.
"""
