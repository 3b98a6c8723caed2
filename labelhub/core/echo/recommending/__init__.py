"""Recommendations: a catalogue, matching items, the decision to show an offer, and its words.

Paper 004, sections 3.3 and 4: the k selected features are matched to the closest item of a
catalogue, a decision says whether to show it, and the offer is worded to fit the conversation. The
paper does not publish its models; these are plain and explain each item. Pure: no clock, no random
numbers of its own, no storage.
"""
