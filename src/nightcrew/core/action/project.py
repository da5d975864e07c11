"""What actions about a whole project have in common."""

from nightcrew.core.ids import TaskKey


class OfProject:
    """An action that is about its project, not about one task of it."""

    __slots__ = ()

    project: str

    @property
    def task(self) -> TaskKey:
        """No task: the project itself."""
        return TaskKey(self.project, 0)
