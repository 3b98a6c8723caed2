"""Changes to sites, authors, messages, questions and answers.

============= ================================================================================
sites         make and change sites, with consent texts, features and keys
site_config   the cached configuration of a site; plug-ins that choose features and make offers
authors       arrival, consent, opting out, leaving
messages      screening, redaction and storage of messages, and how they end
message_lease claims of messages: whether the author may be asked now, and by which plan
questions     calls of the models; storage, sending and display of questions
answers       storage of answers and their labels
chat          replies of the chat model
limits        daily use, cost, pauses between surveys, caps that survive an erasure
trust         whether an author's answers count
rewards       rewards for answers, and payouts
privacy       data export, erasure, retention
============= ================================================================================
"""
