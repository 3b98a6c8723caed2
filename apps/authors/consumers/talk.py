"""What was said in a chat, as its model may read it: without personal data, and never longer than
the connection."""

from dataclasses import dataclass

from apps.authors.models import Message

#: Messages that are kept in memory, and that the model reads.
REMEMBERED, READ = 40, 20


@dataclass(frozen=True, slots=True)
class Line:
    """One message; ``role`` is that of a :class:`Message`."""

    mid: str
    conversation: str
    role: str
    text: str

    @property
    def by_author(self) -> bool:
        """Whether a reply may follow it."""
        return self.role == Message.Role.AUTHOR


class Talk:
    """The lines of a chat, oldest first, and the author's messages that wait for a reply."""

    def __init__(self) -> None:
        self._lines: list[Line] = []
        #: Ids of messages to reply to, in their order; the first is being replied to.
        self.queue: list[str] = []

    def add(self, line: Line) -> None:
        """Something was said; the oldest of too many lines goes."""
        self._lines = [*self._lines, line][-REMEMBERED:]

    def answer(self, to: str, reply: Line) -> None:
        """Put a reply directly after what it replies to, whatever was said since."""
        if self.waits(to):
            place = self._place(to) + 1
            self._lines = [*self._lines[:place], reply, *self._lines[place:]][-REMEMBERED:]

    def find(self, mid: str) -> Line | None:
        """The line of that id, if it is remembered."""
        return next((line for line in self._lines if line.mid == mid), None)

    def waits(self, mid: str) -> bool:
        """Whether this is a message of the author that no reply follows."""
        line = self.find(mid)
        if line is None or not line.by_author:
            return False
        following = self._lines[self._place(mid) + 1 :][:1]
        return all(each.by_author for each in following)

    def until(self, mid: str) -> list[tuple[str, str]]:
        """(role, text) of what the model reads to reply to that message: it comes last. Nothing
        where it is not remembered."""
        read = self._lines[: self._place(mid) + 1]
        return [(line.role, line.text) for line in read[-READ:]]

    def _place(self, mid: str) -> int:
        return next((at for at, line in enumerate(self._lines) if line.mid == mid), -1)
