"""What all shapes of the API have in common, and that of an error."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"}, description="ISO 8601, UTC")]


class Body(BaseModel):
    """What all of them have in common: nothing but what is declared."""

    model_config = ConfigDict(extra="forbid")


class ErrorWords(Body):
    code: str = Field(description="stable, machine-readable: missing, conflict, invalid, denied, unavailable, …")
    message: str = Field(description="what is wrong and what to do, for a person")


class ErrorBody(Body):
    """Every error has this body."""

    error: ErrorWords
