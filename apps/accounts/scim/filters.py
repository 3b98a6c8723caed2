"""What a directory can search by."""

from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django_scim.filters import FilterQuery
from django_scim.utils import get_group_model, get_user_model
from scim2_filter_parser.lexer import SCIMLexer
from scim2_filter_parser.parser import SCIMParser
from scim2_filter_parser.transpilers.django_q_object import Transpiler


class _KnownOnly(Transpiler):
    """Refuses attributes that cannot be searched; else a filter would match more than it says."""

    def visit_AttrPath(self, node: Any) -> str:  # noqa: N802 - as the library calls it
        """The field."""
        field = super().visit_AttrPath(node)
        if field is None:
            raise ValueError(f"{node.attr_name} cannot be searched")
        return str(field)


class _Filter(FilterQuery):
    @classmethod
    def search(cls, filter_query: str, _request: HttpRequest | None = None) -> QuerySet[Any]:
        """The rows that the filter finds.

        Raises:
            ValueError: an attribute or an operator cannot be searched.
        """
        parsed = SCIMParser().parse(SCIMLexer().tokenize(filter_query))
        found: Q = _KnownOnly(cls.attr_map).transpile(parsed)
        rows: QuerySet[Any] = cls.model_getter().objects.filter(found).order_by("pk")
        return rows


class UserFilter(_Filter):
    """What accounts can be found by."""

    model_getter = get_user_model
    attr_map = {
        ("userName", None, None): "scim_name",
        ("externalId", None, None): "scim_external_id",
        ("emails", None, None): "email",
        ("emails", "value", None): "email",
        ("active", None, None): "is_active",
        ("name", "givenName", None): "first_name",
        ("name", "familyName", None): "last_name",
    }


class GroupFilter(_Filter):
    """What groups can be found by."""

    model_getter = get_group_model
    attr_map = {
        ("displayName", None, None): "name",
        ("externalId", None, None): "external_id",
    }
