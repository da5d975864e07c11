"""What git's complaints mean: its words, as an error of the ports. Only wording that is known to be printed."""

import re

from nightcrew.core.errors import Conflict, Denied, Invalid, Missing, PortError, Unavailable

_LONGEST = 1_500

# First match wins. Rejections come before the network, since a server may print both; git runs with LC_ALL=C.
_LFS_LOCK = re.compile(
    r"lfs[^\n]*(timed? ?out|deadline exceeded|unavailable|50[0-9])|(timed? ?out|deadline exceeded)[^\n]*lfs"
    r"|(lock[^\n]*verif|verif[^\n]*lock)[^\n]*(timed? ?out|deadline|fail|error|unavailable)"
    r"|(timed? ?out|deadline)[^\n]*(lock[^\n]*verif|verif[^\n]*lock)",
    re.IGNORECASE,
)
_MOVED = re.compile(
    r"non-fast-forward|\(fetch first\)|stale info|cannot lock ref|failed to update ref|already exists\)"
)
_DENIED = re.compile(
    r"Authentication failed|could not read (Username|Password)|Permission denied|terminal prompts disabled"
    r"|returned error: 40[13]|Invalid username or|access denied|not allowed to push|protected branch|GH006|GH013"
    r"|Write access to repository not granted|Permission to \S+ denied|Host key verification failed",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"\[remote rejected\]|\[rejected\]|hook declined|pre-receive|unpacker error|fsck error|^error: object ",
    re.MULTILINE,
)
_ABSENT = re.compile(
    r"repository '[^']*' (not found|does not exist)|Repository not found|does not appear to be a git repository"
    r"|returned error: 404|couldn't find remote ref|bad object|not a valid object name|unknown revision"
    r"|No such file or directory",
    re.IGNORECASE,
)
_NETWORK = re.compile(
    r"Could not resolve (host|proxy)|Temporary failure in name resolution|Name or service not known"
    r"|nodename nor servname|Could not resolve hostname|Connection (refused|reset|timed out|closed)|Operation timed out"
    r"|Failed to connect|unable to connect|Network is unreachable|No route to host|The remote end hung up"
    r"|early EOF|RPC failed|unexpected disconnect|TLS|SSL_|gnutls|returned error: (429|5\d\d)|HTTP 5\d\d"
    r"|kex_exchange_identification|Broken pipe|Couldn't connect to server|Timeout was reached",
    re.IGNORECASE,
)
_BUSY = re.compile(r"Unable to create '[^']*\.lock'|Another git process|\.lock': File exists|No space left on device")

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_ESCAPE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|.)")
_CREDENTIAL = re.compile(r"(?<=://)[^/\s@]+@")
_NOISE = re.compile(r"^(hint: .*|\s*|To .*|Done|remote:\s*)$")


def clean(text: str, *, limit: int = _LONGEST) -> str:
    """Outside text fit to be shown: no control or direction marks, no credentials of an address, cut at `limit`."""
    plain = _CONTROL.sub("", _ESCAPE.sub("", text.replace("\r", "\n")))
    return _CREDENTIAL.sub("…@", plain)[-limit:].strip()


def translate(complaint: str, *, doing: str) -> PortError:
    """The error that a failed git command stands for; its message keeps git's and the remote's own words."""
    lines = [line.rstrip() for line in clean(complaint).splitlines()]
    words = "\n".join(line for line in lines if not _NOISE.match(line)) or "git said nothing"
    message = f"{doing}: {words}"
    if _LFS_LOCK.search(complaint) or _BUSY.search(complaint):
        return Unavailable(message)
    if _DENIED.search(complaint):
        return Denied(message)
    if _MOVED.search(complaint):
        return Conflict(message)
    if _REFUSED.search(complaint):
        return Invalid(message)
    if _NETWORK.search(complaint):
        return Unavailable(message)
    if _ABSENT.search(complaint):
        return Missing(message)
    return PortError(message)


def is_lock_left(error: PortError) -> bool:
    """Whether git stumbled over a lock file, which a killed predecessor may have left."""
    return isinstance(error, Unavailable) and ".lock'" in str(error) and "File exists" in str(error)
