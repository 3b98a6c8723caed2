"""The runs that tables are made of: protocol, who plays, settings; equal ones have equal keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.agreement.papers.asked import ECJ_ROLES, Asked, Trio, one_model
from apps.debates.services import RunPlan, models_for_roles
from apps.llm.models import ModelSpec
from labelhub.core.debate import protocol

#: Paper 002 asks with this temperature throughout (section 4).
WARMTH_002 = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """One run over each file."""

    protocol: str
    models: Mapping[str, ModelSpec]
    settings: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Equal for equal set-ups."""
        played = sorted((role, model.pk) for role, model in self.models.items())
        return repr((self.protocol, played, sorted(self.settings.items()), self.params))

    @property
    def words(self) -> str:
        """Short, for whoever waits for it."""
        names = " + ".join(dict.fromkeys(model.name for model in self.models.values()))
        told = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        return f"{self.protocol} by {names}" + (f" ({told})" if told else "")

    def plan(self, *, item_ids: Sequence[int], replicates: int) -> RunPlan:
        """The run over these items: a trial, of which nothing enters the ledger."""
        return RunPlan(
            protocol=self.protocol,
            models=self.models,
            settings=self.settings,
            params=self.params,
            item_ids=item_ids,
            replicates=replicates,
            trial=True,
        ).complete()


def by_one(name: str, model: ModelSpec) -> Setup:
    """A protocol all of whose roles one model plays, with its usual settings."""
    return Setup(protocol=name, models=models_for_roles(name, {}, [model]))


def ecj(trio: Trio) -> Setup:
    """Extractor, critic and judge."""
    return Setup(protocol="ecj", models=dict(zip(ECJ_ROLES, trio, strict=True)))


def discussion(models: Sequence[ModelSpec], rounds: int) -> Setup:
    """A table of annotators, one for each model."""
    settings = {"annotators": len(models), "rounds": rounds}
    played = models_for_roles("discussion", {}, models, settings)
    return Setup(protocol="discussion", models=played, settings=settings)


def shows_precedents(name: str) -> bool:
    """Whether a protocol can show examples, so that its answers are few-shot."""
    return any(setting.name == "precedents" for setting in protocol(name).settings)


def alone(asked: Asked, precedents: int = 0) -> Setup:
    """Paper 002's single LLM; without examples where the protocol shows none."""
    return _plain("single", asked, {}, precedents)


def parallel(asked: Asked, precedents: int = 0) -> Setup:
    """Paper 002's parallel N-LLM: as many single answers as there are judges, counted."""
    return _plain("vote", asked, {"annotators": max(2, asked.judges)}, precedents)


def courtroom(asked: Asked, deliberation: str, precedents: int) -> Setup:
    """A trial; one model plays what no other was given for."""
    settings = {
        "judges": asked.judges,
        "deliberation": deliberation,
        "precedents": precedents,
        "temperature": WARMTH_002,
    }
    roles = protocol("courtroom").roles(protocol("courtroom").read_settings(settings))
    given = {role: models[0] for role, models in asked.by_role.items() if role in roles}
    played = models_for_roles("courtroom", given, [one_model(asked)], settings)
    return Setup(protocol="courtroom", models=played, settings=settings)


def _plain(name: str, asked: Asked, settings: dict[str, Any], precedents: int) -> Setup:
    if precedents and shows_precedents(name):
        settings = {**settings, "precedents": precedents}
    played = models_for_roles(name, {}, [one_model(asked)], settings)
    return Setup(
        protocol=name,
        models=played,
        settings=settings,
        params={role: {"temperature": WARMTH_002} for role in played},
    )
