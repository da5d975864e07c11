"""The shapes of what is asked and answered by the doctor."""

from pydantic import Field

from nightcrew.api.body import Body


class ExamineBody(Body):
    fix: bool = Field(default=False, description="put right what can be without a person and without losing anything")


class DiagnosisBody(Body):
    what: str
    level: str = Field(description="ok, mended, unknown, warning or error")
    words: str
    hint: str = Field(description="what to do about it")
    done: str = Field(description="what was done about it, or why that could not be done")


class DiagnosesBody(Body):
    findings: list[DiagnosisBody]
