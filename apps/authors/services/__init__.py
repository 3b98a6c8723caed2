"""Changes to sites, authors, messages, questions and answers.

============= ================================================================================
sites         make and change sites, with consent texts, features and keys
site_config   what a process remembers of a site; plug-ins that choose features and make offers
authors       arrival, consent, opting out, leaving
messages      a message is screened, stripped of personal data, stored; and how it ends
message_lease whether its author may be asked now, and by which plan
questions     the models are asked, and questions stored, sent and shown
answers       an answer is stored once, not too early, with the label it becomes
chat          the chat model's replies
limits        daily use, cost, pauses between surveys, caps that outlive an erasure
trust         whose answers count
rewards       what answers earn
privacy       show my data, delete my data, retention
============= ================================================================================
"""
