"""A debate laid out to be read: stages, rows of what was said, and what became of whose opinion.

Everything is derived from the stored turns and signals: steps say where a turn belongs
and what is to be said of it (``speech``), ``layout`` puts turns into rows,
``summary`` says what came of it all.
"""

from apps.debates.conversation.layout import Conversation, Stage, conversation
from apps.debates.conversation.speech import records_of
from apps.debates.conversation.summary import summarize_debate

__all__ = [
    "Conversation",
    "Stage",
    "conversation",
    "records_of",
    "summarize_debate",
]
