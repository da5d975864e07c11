"""Who may give orders in a chat: a list of people, and one of the places where they may. Everybody else is not
answered, and counted."""

from collections.abc import Callable
from dataclasses import dataclass, field

_MOST = 1000
_TOLD = frozenset(10**power for power in range(12))


@dataclass(slots=True)
class Access:
    """`users` are the platform's ids of people; `chats` those of the groups or channels in which they are heard. A
    private chat with one of the people needs no entry."""

    users: frozenset[str]
    chats: frozenset[str]
    report: Callable[[str], None]
    """Told of the first, tenth, hundredth … order that was ignored: who looks for their own id finds it there."""
    ignored: dict[str, int] = field(default_factory=dict)
    """How often others tried, by their id."""
    ignored_count: int = 0

    def may(self, user: str, *, chat: str, is_private: bool) -> bool:
        """Whether this person is heard here; counted if not."""
        if user in self.users and (is_private or chat in self.chats):
            return True
        if user in self.ignored or len(self.ignored) < _MOST:
            self.ignored[user] = self.ignored.get(user, 0) + 1
        self.ignored_count += 1
        if self.ignored_count in _TOLD:
            self.report(f"{self.ignored_count} ignored so far, the last of them from {user} in {chat}")
        return False
