"""How people name an annotator whose labels they want to see, and how it is named to them."""

import re
from collections.abc import Iterable

from django.db.models import QuerySet

from apps.labels.models import Annotator, Kind
from apps.projects.models import Project
from labelhub.core.errors import InvalidInput

#: So many are told where none, or more than one, is meant; so much of each name.
MOST_TOLD, MOST_NAME = 5, 40
_NUMBERED = re.compile(r"(?:^|#)(\d{1,9})$", re.ASCII)


def annotator_meant(project: Project, said: str) -> int:
    """A number, ``ann, Crowd #12`` as it is suggested, or a name that only one has.

    Authors are never found by their name. Whether a number is one of the project is not looked at.

    Raises:
        InvalidInput: nobody, or more than one, is called so; with some who are.
    """
    numbered = _NUMBERED.search(said.strip())
    if numbered:
        return int(numbered[1])
    name = said.strip()
    found = list(named(project).filter(name__iexact=name).order_by("pk")[: MOST_TOLD + 1])
    if len(found) == 1:
        return found[0].pk
    if found:
        words = f"Several are called “{name[:MOST_NAME]}”: {_listed(found)}. Give the number."
        raise InvalidInput.at("annotator", words)
    some = list(named(project).order_by("pk")[: MOST_TOLD + 1])
    example = f" Give the number or a name, such as {_listed(some)}." if some else ""
    raise InvalidInput.at("annotator", f"Nobody is called “{name[:MOST_NAME]}”.{example}")


def annotator_called(project: Project, key: int | str | None) -> str:
    """``ann, Crowd #12``; empty without a ``key`` or such an annotator. A query where there is."""
    one = Annotator.objects.filter(project=project, pk=key).first() if key else None
    return annotator_words(one) if one else ""


def annotator_words(one: Annotator, most: int | None = None) -> str:
    """``ann, Crowd #12``, of names so many letters at ``most``; of authors the number alone."""
    numbered = f"{one.get_kind_display()} #{one.pk}"
    return numbered if one.kind == Kind.AUTHOR else f"{one.name[:most]}, {numbered}"


def named(project: Project) -> QuerySet[Annotator]:
    """The annotators who may be named: all but authors."""
    return Annotator.objects.filter(project=project).exclude(kind=Kind.AUTHOR)


def _listed(some: Iterable[Annotator]) -> str:
    *told, last = [annotator_words(one, MOST_NAME) for one in some]
    return "; ".join([*told[:MOST_TOLD], "…" if len(told) == MOST_TOLD else last])
