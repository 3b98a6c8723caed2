"""What can be set about a protocol: names, bounds and defaults as data, read in one place."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from labelhub.core.errors import InvalidInput


class InvalidSetting(InvalidInput):
    """A setting has no such name or no such value; the message says which ones there are."""

    code = "invalid_setting"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One thing to choose about a protocol. Its kind is that of ``default``.

    ``low`` and ``high`` bound numbers, both inclusive; ``choices`` are all there is for words and
    for numbers that have any. ``main``: an experiment asks for it; ``titled``: it stands in the
    title of every arm; ``compared``: several values may be chosen, each an arm of its own, at first
    these.
    """

    name: str
    title: str
    help: str = ""
    default: int | float | str
    low: float = 0
    high: float = 0
    choices: tuple[int | str, ...] = ()
    main: bool = False
    titled: bool = False
    compared: tuple[str, ...] = ()

    def read(self, raw: Any) -> int | float | str:
        """``raw`` (a value, or a word that spells one) as a value of this setting.

        Raises:
            InvalidSetting: it is none.
        """
        value = self._typed(raw)
        if value is None or (self.choices and value not in self.choices) or self._outside(value):
            raise InvalidSetting(f"{self.name}: '{raw}' cannot be set; it is {self.menu}.")
        return value

    @property
    def menu(self) -> str:
        """What may be set, in words."""
        if self.choices:
            return "one of " + ", ".join(str(choice) for choice in self.choices)
        kind = "a whole number" if isinstance(self.default, int) else "a number"
        return f"{kind} from {self.low:g} to {self.high:g}"

    def _typed(self, raw: Any) -> int | float | str | None:
        if isinstance(self.default, str):
            return raw if isinstance(raw, str) else None
        if isinstance(raw, bool):
            return None
        try:
            number = float(raw)
        except (TypeError, ValueError, OverflowError):
            return None
        if isinstance(self.default, float):
            return number
        return int(number) if number.is_integer() else None

    def _outside(self, value: float | str) -> bool:
        if self.choices or isinstance(value, str):
            return False
        return not self.low <= value <= self.high


def read_settings(known: Iterable[Setting], given: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a protocol: those ``given``, checked, and the defaults of the others.

    Raises:
        InvalidSetting: a name is not known, or a value cannot be set.
    """
    by_name = {setting.name: setting for setting in known}
    strange = next((name for name in given if name not in by_name), None)
    if strange is not None:
        names = ", ".join(by_name) or "none"
        raise InvalidSetting(f"settings: '{strange}' is not known here; there are: {names}.")
    return {
        name: setting.read(given[name]) if name in given else setting.default
        for name, setting in by_name.items()
    }
