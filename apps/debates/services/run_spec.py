"""The specification of a run's debates: protocol, models and prompts as at the start."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.crypto import salted_hmac

from apps.debates.models import Run, RunRole
from apps.debates.services.role_assignment import CastMember
from apps.llm.models import ModelSpec
from apps.projects.models import Project
from labelhub.core.debate import ProtocolInfo, protocol
from labelhub.core.debate.calls import Caller
from labelhub.core.debate.outcome import Debate, DebateItem, DebateSpec
from labelhub.core.prompts import parse_prompt
from labelhub.core.schema import Schema

MOST_WIDTH = 256


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """Everything that a run's debates need, except their items."""

    protocol: ProtocolInfo
    schema: Schema
    cast: Mapping[str, CastMember]
    salt: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    guideline: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    roles: Mapping[str, RunRole] = field(default_factory=dict)

    def start(self, item: DebateItem) -> Debate:
        """A fresh debate over ``item``."""
        schema = self.schema.of_item(item.options)
        caller = Caller(
            item=item,
            schema=schema,
            prompts={role: cast.prompt for role, cast in self.cast.items()},
            salt=self.salt,
            guideline=self.guideline,
            params={role: self.params[role] for role in self.cast if role in self.params},
            json_roles=[role for role, cast in self.cast.items() if cast.model.answers_in_json],
        )
        return self.protocol.start(item, DebateSpec(schema, caller, self.settings))

    @property
    def models(self) -> list[ModelSpec]:
        """The models that take part, each once."""
        return list({cast.model.pk: cast.model for cast in self.cast.values()}.values())

    @property
    def width(self) -> int:
        """The number of debates in flight: as many as the calls that the providers allow."""
        ceilings = {model.provider_id: model.provider.max_concurrency for model in self.models}
        return min(MOST_WIDTH, sum(ceilings.values()))

    @property
    def longest_answer(self) -> float:
        """The longest time of a call in seconds, with a margin."""
        providers = [model.provider for model in self.models]
        return max(provider.connect_timeout + provider.read_timeout for provider in providers) + 5.0

    @property
    def offline(self) -> bool:
        """Whether no language model takes part."""
        return all(model.offline for model in self.models)


def run_spec_of(run: Run) -> RunSpec:
    """The spec of a stored run, with its stored prompts, not the present files."""
    roles = {role.role: role for role in run.roles.select_related("model__provider", "prompt")}
    shared: dict[int, ModelSpec] = {}
    for role in roles.values():
        # One object per model, so that all roles share what is learnt about it.
        role.model = shared.setdefault(role.model.pk, role.model)
    info = protocol(run.protocol)
    return RunSpec(
        protocol=info,
        schema=run.schema.parsed,
        cast={
            name: CastMember(role.model, parse_prompt(role.prompt.name, role.prompt.body))
            for name, role in roles.items()
        },
        salt=salt_of(run.project),
        settings=info.read_settings(run.protocol_settings),
        guideline=run.guideline.text if run.guideline else "",
        params=run.params,
        roles=roles,
    )


def salt_of(project: Project) -> str:
    """The secret of the delimiters in a project's prompts, unknown to authors of texts.

    It is equal in all runs of a project, so that equal questions are equal calls.
    """
    return salted_hmac("labelhub.debates.delimiters", str(project.pk)).hexdigest()[:32]
