"""What there is to know about a protocol before choosing it, and its settings, as data."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from labelhub.core.debate.outcome import Debate, DebateItem, DebateSpec
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import TASKS, LabelType


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


Settings = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """A role that somebody plays, and the file of its prompt: ``discussion/annotator``."""

    role: str
    prompt: str


@dataclass(frozen=True, slots=True)
class CallCount:
    """How many calls an item takes and how many of them wait for each other, at least and at most.

    Reasons for precedents are not counted: each is asked for once, however many items use it.
    """

    least: int
    most: int
    depth_least: int
    depth_most: int

    def then(self, other: "CallCount") -> "CallCount":
        """Of this protocol for every item and of ``other`` for some of them."""
        return CallCount(
            self.least,
            self.most + other.most,
            self.depth_least,
            self.depth_most + other.depth_most,
        )


def role_parts(protocol: str, *roles: str) -> Callable[[Settings], tuple[Part, ...]]:
    """Parts of roles with a prompt each."""
    parts = tuple(Part(role, f"{protocol}/{role}") for role in roles)
    return lambda _: parts


def fixed_count(calls: int, depth: int) -> Callable[[Settings], CallCount]:
    """As many calls under all settings; ``depth`` of them wait for each other."""
    return lambda _: exact_count(calls, depth)


def exact_count(calls: int, depth: int) -> CallCount:
    """Always as many."""
    return CallCount(calls, calls, depth, depth)


def no_more_settings(_: Settings) -> tuple[Setting, ...]:
    """For protocols whose settings do not depend on each other."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinions:
    """Which opinions a debate goes through; see ``signals.py`` for the signals.

    Attributes:
        first: what the first opinion is called; ``last`` what the final one is.
        voters: who votes, in words; empty where nobody does.
        rounds: the signal with the opinions that follow on each other; ``round`` is what one is
            called, ``round_from`` the number of the first.
        signals: others that a report reads.
    """

    first: str
    last: str
    voters: str = ""
    rounds: str = ""
    round: str = ""
    round_from: int = 0
    signals: tuple[str, ...] = ()


class Group(StrEnum):
    """How protocols are laid out for choosing."""

    ONE = "One model"
    VOTING = "Several models, each for itself"
    DEBATE = "Models that debate"
    STAGES = "In stages"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolInfo:
    """A protocol: everything that forms, experiments, pages and docs know of it.

    Attributes:
        group: where it stands for choosing.
        start: the generator function.
        parts: who takes part under these settings, in the order in which they speak.
        calls: how many calls an item takes under these settings.
        answers: whether it can answer questions of a label type.
        not_for: why not the others, in words.
        settings: what can be set; ``more_settings`` what else, once these are chosen.
        steps: the steps that are sure to be taken, with the role that takes each; by default each
            role once.
        opinions: None where there is but one.
        debated: opinions meet, so an experiment sets a vote of as many calls beside it.
        trials_only: its answers are no labels; experiments compare them with gold.
        stages: the protocols that it plays one after another, by the name of the stage; None where
            it plays itself alone.
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
    more_settings: Callable[[Settings], tuple[Setting, ...]] = no_more_settings
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
        """All settings, those not given at their defaults.

        Raises:
            InvalidSetting: a name is not known, or a value cannot be set.
        """
        return read_settings(self.known_settings(given), given)

    def known_settings(self, given: Settings) -> tuple[Setting, ...]:
        """What can be set, given what is set already."""
        own = {setting.name for setting in self.settings}
        chosen = read_settings(
            self.settings, {name: value for name, value in given.items() if name in own}
        )
        return (*self.settings, *self.more_settings(chosen))

    def sure_steps(self, settings: Settings) -> tuple[tuple[str, str], ...]:
        """The steps that are sure to be taken under these settings, each with its role."""
        if self.steps is not None:
            return self.steps(settings)
        return tuple((role, role) for role in self.roles(settings))

    def roles(self, settings: Settings | None = None) -> tuple[str, ...]:
        """The roles under these settings, by default under the usual ones."""
        settings = self.read_settings({}) if settings is None else settings
        return tuple(part.role for part in self.parts(settings))
