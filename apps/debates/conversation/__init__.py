"""A debate laid out to be read: stages, rows of what was said, and what became of whose opinion.

Everything is derived from the stored turns and signals: steps say where a turn belongs
(``places``), ``layout`` puts them into rows, ``speech`` says what is to be said of one turn,
``standing`` what came of it all.
"""

from apps.debates.conversation.layout import Conversation, Row, Stage, conversation
from apps.debates.conversation.record import Record, records_of
from apps.debates.conversation.speech import Cell, Part, Speech
from apps.debates.conversation.standing import Fact, Standing, standing_of

__all__ = [
    "Cell",
    "Conversation",
    "Fact",
    "Part",
    "Record",
    "Row",
    "Speech",
    "Stage",
    "Standing",
    "conversation",
    "records_of",
    "standing_of",
]
