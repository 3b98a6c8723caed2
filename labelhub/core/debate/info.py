"""The description of a protocol and its settings, as data."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from labelhub.core.debate.outcome import Debate, DebateItem, DebateSpec
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import TASKS, LabelType
from labelhub.core.texts import gettext_noop


class InvalidSetting(InvalidInput):
    """A setting has no such name or value; the message lists the possible ones."""

    code = "invalid_setting"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting of a protocol, of the type of ``default``.

    Attributes:
        low, high: the bounds of a number, both included.
        choices: all possible values, for words and for some numbers.
        main: experiments ask for it.
        titled: it is part of the title of every arm.
        compared: the default values of the arms, if several values may be compared.
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
        """``raw`` (a value, or a text that spells it) as a value of this setting.

        Raises:
            InvalidSetting: ``raw`` is no possible value.
        """
        value = self._typed(raw)
        if value is None or (self.choices and value not in self.choices) or self._outside(value):
            raise InvalidSetting(f"{self.name}: '{raw}' is not possible; it must be {self.menu}.")
        return value

    @property
    def menu(self) -> str:
        """The possible values in words."""
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
    """All settings of a protocol: the ``given`` ones, checked, and the defaults of the others.

    Raises:
        InvalidSetting: a name is unknown, or a value is not possible.
    """
    by_name = {setting.name: setting for setting in known}
    strange = next((name for name in given if name not in by_name), None)
    if strange is not None:
        names = ", ".join(by_name) or "none"
        raise InvalidSetting(f"settings: '{strange}' is unknown; the settings are: {names}.")
    return {
        name: setting.read(given[name]) if name in given else setting.default
        for name, setting in by_name.items()
    }


Settings = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """A role and the file of its prompt: ``discussion/annotator``."""

    role: str
    prompt: str


@dataclass(frozen=True, slots=True)
class CallCount:
    """The least and most calls for an item, and how many of them wait for each other (depth).

    Reasons for precedents are not counted: one call serves all items.
    """

    least: int
    most: int
    depth_least: int
    depth_most: int

    def then(self, other: "CallCount") -> "CallCount":
        """The count for this protocol for every item and ``other`` for some items."""
        return CallCount(
            self.least,
            self.most + other.most,
            self.depth_least,
            self.depth_most + other.depth_most,
        )


def role_parts(protocol: str, *roles: str) -> Callable[[Settings], tuple[Part, ...]]:
    """The parts of ``roles`` with a prompt each."""
    parts = tuple(Part(role, f"{protocol}/{role}") for role in roles)
    return lambda _: parts


def fixed_count(calls: int, depth: int) -> Callable[[Settings], CallCount]:
    """The same count under all settings."""
    return lambda _: exact_count(calls, depth)


def exact_count(calls: int, depth: int) -> CallCount:
    """Exactly ``calls`` calls, of which ``depth`` wait for each other."""
    return CallCount(calls, calls, depth, depth)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinions:
    """The opinions in the course of a debate; see ``signals.py`` for the signals.

    Attributes:
        first, last: the titles of the first and the final opinion.
        voters: the voters in words; empty without a vote.
        rounds: the signal with the opinions of all rounds; ``round`` is the title of a round,
            ``round_from`` the number of the first.
        signals: other signals that a report reads.
    """

    first: str
    last: str
    voters: str = ""
    rounds: str = ""
    round: str = ""
    round_from: int = 0
    signals: tuple[str, ...] = ()


class Group(StrEnum):
    """The groups of protocols in forms."""

    ONE = gettext_noop("One model")
    VOTING = gettext_noop("Several independent models")
    DEBATE = gettext_noop("Models that debate")
    STAGES = gettext_noop("In stages")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolInfo:
    """All facts about a protocol, for forms, experiments, pages and docs.

    Attributes:
        group: its group in forms.
        start: the generator function.
        parts: the roles under given settings, in the order of their turns.
        calls: the calls for an item under given settings.
        answers: whether it can answer questions of a label type.
        not_for: the reason against the other types, in words.
        settings: its settings; ``more_settings`` depend on their values.
        steps: the steps of every debate with their roles; by default each role once.
        opinions: None if there is only one.
        debated: roles react to each other, so experiments compare it with a vote of as many calls.
        trials_only: its answers are no labels; experiments compare them with gold.
        stages: stage → the protocol of that stage; None for a protocol without stages.
    """

    name: str
    title: str
    description: str
    group: Group
    start: Callable[[DebateItem, DebateSpec], Debate]
    parts: Callable[[Settings], tuple[Part, ...]]
    calls: Callable[[Settings], CallCount]
    answers: Callable[[LabelType], bool] = lambda _: True
    not_for: str = ""
    settings: tuple[Setting, ...] = ()
    more_settings: Callable[[Settings], tuple[Setting, ...]] = lambda _: ()
    steps: Callable[[Settings], tuple[tuple[str, str], ...]] | None = None
    opinions: Opinions | None = None
    debated: bool = False
    trials_only: bool = False
    stages: Callable[[Settings], Mapping[str, "ProtocolInfo"]] | None = None

    @property
    def tasks(self) -> list[LabelType]:
        """The label types that it can answer."""
        return [task for task in TASKS.values() if self.answers(task)]

    def read_settings(self, given: Settings) -> dict[str, Any]:
        """All settings, with defaults for those not given.

        Raises:
            InvalidSetting: a name is unknown, or a value is not possible.
        """
        return read_settings(self.known_settings(given), given)

    def known_settings(self, given: Settings) -> tuple[Setting, ...]:
        """The settings of the protocol, some of which depend on the given values."""
        own = {setting.name for setting in self.settings}
        chosen = read_settings(
            self.settings, {name: value for name, value in given.items() if name in own}
        )
        return (*self.settings, *self.more_settings(chosen))

    def sure_steps(self, settings: Settings) -> tuple[tuple[str, str], ...]:
        """The steps of every debate under these settings, each with its role."""
        if self.steps is not None:
            return self.steps(settings)
        return tuple((role, role) for role in self.roles(settings))

    def roles(self, settings: Settings | None = None) -> tuple[str, ...]:
        """The roles under these settings, by default under the default settings."""
        settings = self.read_settings({}) if settings is None else settings
        return tuple(part.role for part in self.parts(settings))
