"""Which of the things that earlier runs of a project learned are about what is worked on now?"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from nightcrew.core.model.memory import Memory

MOST = 8
_WORD = re.compile(r"[^\W_]{2,}", re.UNICODE)
_COMMON = frozenset(
    [
        *("the", "and", "for", "with", "that", "this", "from", "are", "was", "has", "have", "not", "but", "you", "its"),
        *("into", "when", "then", "than", "use", "used", "can", "all", "will", "should", "must", "may", "our", "out"),
        *("new", "one", "two", "file", "files", "code", "test", "tests", "fix", "add", "issue", "change", "changes"),
    ]
)
_NEAR_DUPLICATE = 0.8


def rank_memories(memories: Sequence[Memory], about: str, *, most: int = MOST) -> tuple[Memory, ...]:
    """Those that share words with `about`, the nearest first; rare words count for more, and of two that say nearly
    the same only the newer is taken. `memories` are in order of time."""
    wanted = _words(about)
    if not wanted or not memories:
        return ()
    held = [_words(f"{memory.title} {memory.text}") for memory in memories]
    spread = Counter(word for words in held for word in words)
    weigh = {word: math.log(1 + len(memories) / count) for word, count in spread.items()}
    scored = [
        (_score(words & wanted, words, weigh), at)
        for at, words in enumerate(held)
        if words & wanted
    ]  # fmt: skip
    taken: list[int] = []
    for _, at in sorted(scored, key=lambda pair: (-pair[0], -pair[1])):
        if len(taken) == most:
            break
        if all(_likeness(held[at], held[other]) < _NEAR_DUPLICATE for other in taken):
            taken.append(at)
    return tuple(memories[at] for at in taken)


def _score(shared: Iterable[str], words: frozenset[str], weigh: dict[str, float]) -> float:
    """The weight of the shared words, and a little less for a long text, which shares words with everything."""
    return sum(weigh[word] for word in shared) / (1 + math.log(1 + len(words)) / 4)


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(len(one | other), 1)


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(text.casefold()) if word not in _COMMON)
