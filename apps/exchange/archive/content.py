"""What the rows of an archive mean: the checks that types and lengths of columns do not make."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from apps.exchange.archive.tables import GOLD, LABEL, LOG, PROMPT, USER, Table
from apps.exchange.archive.values import BadValue
from labelhub.core.debate.routing import read_rule
from labelhub.core.echo.events import from_json
from labelhub.core.echo.recommending.catalogue import read_item
from labelhub.core.errors import LabelhubError
from labelhub.core.interview.features import parse_feature
from labelhub.core.phrases import Phrase
from labelhub.core.prompts import parse_prompt
from labelhub.core.schema import Schema, parse_schema
from labelhub.core.schema.operations import parse_operations

_Row = Mapping[str, Any]


class ContentCheck:
    """Checks rows in the order of loading, as labels are checked by the schemas before them."""

    def __init__(self) -> None:
        self._schemas: dict[int, Schema] = {}
        self._names: set[str] = set()
        #: Values that were found canonical, by their schema.
        self._canonical: set[tuple[int, str]] = set()
        self._checks: dict[str, Callable[[_Row], object]] = {
            USER: self._check_person,
            PROMPT: _check_prompt,
            LABEL: self._check_value,
            GOLD: self._check_value,
            LOG: lambda row: from_json(row["kind"], row["ref"], row["data"]),
            "echo.CatalogueItem": lambda row: read_item(row["definition"]),
            "authors.Feature": lambda row: parse_feature(row["definition"]),
            "debates.RoutingRule": lambda row: read_rule(row["definition"]),
            "projects.LabelSchema": self._keep_schema,
            "projects.SchemaChange": lambda row: (
                row["operations"] and parse_operations(row["operations"])
            ),
        }

    def of(self, table: Table) -> Callable[[list[Any]], None] | None:
        """The check of a table's rows; None if there is nothing to check.

        Raises (the returned function):
            BadValue: the row cannot be.
        """
        check = self._checks.get(table.name)
        if check is None:
            return None
        names = [column.name for column in table.fields]

        def checked(row: list[Any]) -> None:
            try:
                check(dict(zip(names, row, strict=True)))
            except LabelhubError as error:
                raise BadValue(error.message) from None

        return checked

    def _keep_schema(self, row: _Row) -> None:
        self._schemas[row["id"]] = parse_schema(row["definition"])

    def _check_person(self, row: _Row) -> None:
        if row["username"] in self._names:
            raise BadValue(Phrase("the user name comes twice"))
        self._names.add(row["username"])

    def _check_value(self, row: _Row) -> None:
        value, schema = row["value"], self._schemas[row["schema"]]
        if value is None:
            return
        if schema.task.item_options:
            if not isinstance(value, str):
                raise BadValue(Phrase("the value is no text"))
            return
        known = (row["schema"], json.dumps(value))
        if known not in self._canonical:
            if schema.normalise(value) != value:
                raise BadValue(Phrase("the value is not as LabelHub stores it"))
            if len(self._canonical) < 10_000:
                self._canonical.add(known)


def _check_prompt(row: _Row) -> None:
    """A prompt that every project shares is what its hash says."""
    if parse_prompt(row["name"], row["body"]).hash != row["hash"]:
        raise BadValue(Phrase("its text is not that of its hash"))
