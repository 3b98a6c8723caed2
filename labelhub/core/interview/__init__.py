"""Asking authors about what they have just written: filters, redaction, questions, timing, trust.

Pure rules: each takes plain values and returns a verdict with its reason. What stores messages and
talks to models is ``apps.authors``.
"""
