"""Who may give orders in a chat: a list of people, and one of the places where they may. Everybody else is not
answered, and counted."""

from dataclasses import dataclass, field

_MOST = 1000


@dataclass(slots=True)
class Access:
    """`users` are the platform's ids of people; `chats` those of the groups or channels in which they are heard. A
    private chat with one of the people needs no entry."""

    users: frozenset[str]
    chats: frozenset[str]
    ignored: dict[str, int] = field(default_factory=dict)
    """How often others tried, by their id."""

    def may(self, user: str, *, chat: str, is_private: bool) -> bool:
        """Whether this person is heard here; counted if not."""
        if user in self.users and (is_private or chat in self.chats):
            return True
        if user in self.ignored or len(self.ignored) < _MOST:
            self.ignored[user] = self.ignored.get(user, 0) + 1
        return False

    @property
    def ignored_count(self) -> int:
        return sum(self.ignored.values())
