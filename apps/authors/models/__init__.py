"""Sites, the authors who write there, what they were asked and what they answered.

The tables of messages, questions and answers are the truth; sockets and the channel layer only
carry what is in them.
"""

from apps.authors.models.asking import Answer, Question
from apps.authors.models.authors import Author, Consent, Erasure
from apps.authors.models.events import Event
from apps.authors.models.limits import CarriedLimits, DailyUse
from apps.authors.models.rewards import Payout, Reward
from apps.authors.models.sites import ConsentText, Feature, Site, SiteKey, SiteUse
from apps.authors.models.talk import Conversation, Message

__all__ = [
    "Answer",
    "Author",
    "CarriedLimits",
    "Consent",
    "ConsentText",
    "Conversation",
    "DailyUse",
    "Erasure",
    "Event",
    "Feature",
    "Message",
    "Payout",
    "Question",
    "Reward",
    "Site",
    "SiteKey",
    "SiteUse",
]
