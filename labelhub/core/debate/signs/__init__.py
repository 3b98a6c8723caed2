"""What orders to a model look like: patterns by kind, for ``injection.py``.

``SIGNS`` tell by themselves; ``LABELLED_SIGNS`` look for the labels on offer, which
``plain.with_labels_marked`` has marked in the text.
"""

from labelhub.core.debate.signs.elsewhere import (
    ELSEWHERE,
    LABELLED_ANSWERS_ELSEWHERE,
    LABELLED_ELSEWHERE,
)
from labelhub.core.debate.signs.english import ENGLISH
from labelhub.core.debate.signs.forms import (
    ANSWERS,
    CHAT_TOKENS,
    COMMENTS,
    LABELLED_ANSWERS,
    ROLE_MARKERS,
)
from labelhub.core.debate.signs.named import LABELLED_ORDERS
from labelhub.core.debate.signs.sign import Reading, Sign

__all__ = ["LABELLED_SIGNS", "SIGNS", "Reading", "Sign"]

SIGNS: dict[str, tuple[Sign, ...]] = {
    "instruction": (*ENGLISH, *ELSEWHERE),
    "role_marker": ROLE_MARKERS,
    "chat_token": CHAT_TOKENS,
    "comment": COMMENTS,
    "answer": ANSWERS,
}
LABELLED_SIGNS: dict[str, tuple[Sign, ...]] = {
    "instruction": (*LABELLED_ORDERS, *LABELLED_ELSEWHERE),
    "answer": (*LABELLED_ANSWERS, *LABELLED_ANSWERS_ELSEWHERE),
}
