"""What a query costs, as GitHub documents it ("Rate limits and query limits for the GraphQL API"): the requests that it
would take to fill each connection, summed, a hundredth of it, rounded, at least one point."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    get_named_type,
)

MOST_NODES = 500_000
MOST_EACH = 100


@dataclass(frozen=True, slots=True)
class Cost:
    """`requests` is how many connections have to be filled, `nodes` how many nodes they may hold."""

    requests: int = 0
    nodes: int = 0

    @property
    def points(self) -> int:
        return max(1, (self.requests + 50) // 100)


def compute_cost(schema: GraphQLSchema, document: DocumentNode, variables: Mapping[str, Any]) -> Cost:
    """The cost of a valid document. Raises GraphQLError, typed as GitHub types it, for one that GitHub would refuse."""
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    walk = _Walk(schema, fragments, variables)
    operation = next(node for node in document.definitions if isinstance(node, OperationDefinitionNode))
    root = schema.get_root_type(operation.operation)
    parts = list(walk.visit(operation.selection_set, root, 1))
    cost = Cost(sum(part.requests for part in parts), sum(part.nodes for part in parts))
    if cost.nodes > MOST_NODES:
        words = f"This query requests up to {cost.nodes:,} possible nodes which exceeds the maximum limit of 500,000."
        raise GraphQLError(words, extensions={"type": "MAX_NODE_LIMIT_EXCEEDED"})
    return cost


class _Walk:
    def __init__(
        self, schema: GraphQLSchema, fragments: Mapping[str, FragmentDefinitionNode], variables: Mapping[str, Any]
    ) -> None:
        self._schema = schema
        self._fragments = fragments
        self._variables = variables

    def visit(self, chosen: SelectionSetNode | None, parent: Any, parents: int) -> Iterator[Cost]:
        """The cost of each connection among what is chosen of `parent`, of which there may be `parents`."""
        for node in chosen.selections if chosen is not None else ():
            if isinstance(node, FieldNode):
                yield from self._field(node, parent, parents)
            elif isinstance(node, FragmentSpreadNode):
                fragment = self._fragments[node.name.value]
                known = self._schema.get_type(fragment.type_condition.name.value)
                yield from self.visit(fragment.selection_set, known, parents)
            elif isinstance(node, InlineFragmentNode):
                named = node.type_condition
                known = self._schema.get_type(named.name.value) if named is not None else parent
                yield from self.visit(node.selection_set, known, parents)

    def _field(self, node: FieldNode, parent: Any, parents: int) -> Iterator[Cost]:
        if not isinstance(parent, (GraphQLObjectType, GraphQLInterfaceType)) or node.name.value not in parent.fields:
            return
        kind = get_named_type(parent.fields[node.name.value].type)
        if kind.name.endswith("Connection"):
            size = self._size(node)
            yield Cost(parents, parents * size)
            parents *= size
        yield from self.visit(node.selection_set, kind, parents)

    def _size(self, node: FieldNode) -> int:
        for argument in node.arguments or ():
            if argument.name.value not in ("first", "last"):
                continue
            value = argument.value
            size: Any = self._variables.get(value.name.value) if isinstance(value, VariableNode) else None
            if isinstance(value, IntValueNode):
                size = int(value.value)
            if isinstance(size, int):
                if not 1 <= size <= MOST_EACH:
                    words = f"Requesting {size} records on the `{node.name.value}` connection exceeds the limit of 100."
                    raise GraphQLError(words, node, extensions={"type": "EXCESSIVE_PAGINATION"})
                return size
        words = f"You must provide a `first` or `last` value to properly paginate the `{node.name.value}` connection."
        raise GraphQLError(words, node, extensions={"type": "MISSING_PAGINATION_BOUNDARIES"})
