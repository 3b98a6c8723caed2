"""What happens with authors: sites are set up, messages heard, questions asked, answers taken.

========== =====================================================================================
sites      made and changed, with consent texts, features and keys
welcoming  who comes, and what they agreed to
hearing    a message is screened, stripped of personal data, stored
taking_up  whether its author may be asked now, and by which plan
asking     the models are asked; ``storing`` writes down what comes of it
showing    whose turn it is
answering  an answer is taken once, not too early; ``ledger`` makes it a label
trusting   whom to believe
rewarding  what answers earn
privacy    show my data, delete my data, retention
========== =====================================================================================
"""
