"""The route of GraphQL. What answers it is heavy, and is imported when somebody asks for the first time."""

from nightcrew.forges.local.call import Answer, Call, Route


async def answer_query(call: Call) -> Answer:
    from nightcrew.forges.local.graphql.answer import answer_query

    return await answer_query(call)


ROUTES = [Route("POST", "/graphql", answer_query, resource="graphql")]
