"""What is asked for on the command line, and the errors of asking for too little."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from apps.llm.models import ModelSpec
from labelhub.core.errors import InvalidInput

ECJ_ROLES = ("extractor", "critic", "judge")
COURT_ROLES = ("clerk", "prosecutor", "defence", "reporter", "judge")
Trio = tuple[ModelSpec, ModelSpec, ModelSpec]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which models, and how much of everything; None: as the paper did.

    Args:
        models: those given without a role, in their order.
        by_role: role to the models given for it.
        groups: models that are to work together, as given by ``--group``.
        aspect: the label that 000's tables of one interest are about.
        replicates: passes of each item.
        judges: how many judges, and how many single answers are counted against them.
        precedents: numbers of precedents for each label.
        rounds: of discussion.
        limit: how many items of each file.
        theta: up to which lead (D_rate) an item is ambiguous.
    """

    models: Sequence[ModelSpec] = ()
    by_role: Mapping[str, Sequence[ModelSpec]] = field(default_factory=dict)
    groups: Sequence[Sequence[ModelSpec]] = ()
    aspect: str = ""
    replicates: int | None = None
    judges: int = 5
    precedents: Sequence[int] | None = None
    rounds: int = 2
    limit: int | None = None
    theta: float = 0.5


def bare_models(asked: Asked) -> Sequence[ModelSpec]:
    """The models without a role, at least one.

    Raises:
        InvalidInput: none was given.
    """
    if not asked.models:
        raise InvalidInput("model: name a model without a role, such as --model NAME.")
    return asked.models


def one_model(asked: Asked) -> ModelSpec:
    """The model that answers alone and plays whatever role no other was given for.

    Raises:
        InvalidInput: none was given, or several.
    """
    model, *others = bare_models(asked)
    if others:
        raise InvalidInput(
            "model: the tables of paper 002 are of one model; give one --model NAME, and those of "
            f"single roles as --model ROLE=NAME ({', '.join(COURT_ROLES)})."
        )
    return model


def tables_of_annotators(asked: Asked) -> list[list[ModelSpec]]:
    """Who discusses with whom: the groups, else all bare models; one model talks with itself.

    Raises:
        InvalidInput: no model was given, or there are too many for one table.
    """
    found = [list(group) for group in asked.groups] or [list(bare_models(asked))]
    for group in found:
        if len(group) > 9:
            raise InvalidInput("model: at most 9 annotators can discuss with each other.")
    return [group if len(group) > 1 else group * 3 for group in found]


def trios(asked: Asked) -> list[Trio]:
    """Extractor, critic, judge: the groups, then every choice of the models given for the roles.

    Raises:
        InvalidInput: a group is not of three models, or a role is left without one.
    """
    found = _groups_of_three(asked)
    if asked.by_role:
        extractors, critics, judges = (_for_role(asked, role) for role in ECJ_ROLES)
        found += list(product(extractors, critics, judges))
    return _each_once(found)


def mixed_trios(asked: Asked) -> list[Trio]:
    """Paper 000, table 5: for each judge every extractor with every critic, in either order.

    Raises:
        InvalidInput: a group is not of three models, or there are too few models to mix.
    """
    found = _groups_of_three(asked)
    if asked.by_role or not found:
        extractors, critics, judges = (_for_role(asked, role) for role in ECJ_ROLES)
        found += [
            trio
            for judge, one, other in product(judges, extractors, critics)
            if one.pk != other.pk
            for trio in ((one, other, judge), (other, one, judge))
        ]
    if not found:
        raise InvalidInput(
            "model: a mix needs two models or more: name several, give roles theirs "
            "(--model extractor=A --model critic=B --model judge=C), or --group A,B,C."
        )
    return _each_once(found)


def _groups_of_three(asked: Asked) -> list[Trio]:
    found: list[Trio] = []
    for group in asked.groups:
        if len(group) != 3:
            raise InvalidInput("group: an extractor, a critic and a judge, such as --group A,B,C.")
        found.append((group[0], group[1], group[2]))
    return found


def _for_role(asked: Asked, role: str) -> Sequence[ModelSpec]:
    found = asked.by_role.get(role) or asked.models
    if not found:
        raise InvalidInput(f"model: the role '{role}' has none; give --model {role}=NAME.")
    return found


def _each_once(found: Sequence[Trio]) -> list[Trio]:
    return list({tuple(model.pk for model in trio): trio for trio in found}.values())
