"""What is offered downstream: a catalogue, what of it fits a message, whether to show it, and how.

Paper 004, sections 3.3 and 4: the k selected features are matched to the closest item of a
catalogue, it is decided whether to show anything, and what is shown is worded to fit the
conversation. The paper keeps its models secret; what is here is plain and can be explained item by
item. Pure: no clock, no chance of its own, no storage.
"""
