"""GitHub's schema, built once a process, and queries checked against it. Building takes a second or two, so it is done
when the first query comes, and beside the event loop."""

import asyncio
import gzip
from functools import lru_cache
from importlib.resources import files

from graphql import DocumentNode, GraphQLError, GraphQLSchema, build_schema, parse, validate

KEPT = 64


@lru_cache(maxsize=1)
def load_schema() -> GraphQLSchema:
    """The whole schema. It is taken as valid: the published text defines two fields twice."""
    packed = files("nightcrew.forges.local.graphql").joinpath("schema.graphql.gz").read_bytes()
    return build_schema(gzip.decompress(packed).decode(), assume_valid=True, no_location=True)


@lru_cache(maxsize=KEPT)
def check_query(text: str) -> tuple[DocumentNode | None, tuple[GraphQLError, ...]]:
    """The query, or what is wrong with it."""
    try:
        document = parse(text)
    except GraphQLError as error:
        return None, (error,)
    wrong = validate(load_schema(), document)
    return (None, tuple(wrong)) if wrong else (document, ())


async def prepare_query(text: str) -> tuple[DocumentNode | None, tuple[GraphQLError, ...]]:
    """The same, without holding up anybody else."""
    return await asyncio.to_thread(check_query, text)
