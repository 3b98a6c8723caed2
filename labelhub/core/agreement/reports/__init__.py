"""Agreement and accuracy of a project's annotators: pure functions of a ``LabelMatrix``.

``label_matrix`` is the ledger as arrays. ``kind_agreement`` measures the agreement within a kind,
``pair_agreement`` that of two kinds or two annotators, ``accuracy`` a kind against a truth (gold,
or the author), ``kind_tests`` compares kinds by a truth, and ``replacement`` tests machines as
substitutes for people. ``report`` has the whole.
"""
