"""One answer an item from the ratings of several, and how much each rater is to be believed.

``majority`` counts votes, handles ties and weighs raters;
``dawid_skene`` and ``mace`` find answers and the raters' faults at once. An item that nothing
decides has the answer -1, never the first category.
"""
