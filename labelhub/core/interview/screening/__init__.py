"""Which messages of authors in a chat are worth asking about; the rest is left in peace."""

from labelhub.core.interview.screening.verdict import Screened, screen

__all__ = ["Screened", "screen"]
