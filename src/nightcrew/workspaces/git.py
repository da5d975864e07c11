"""Running git for the engine: the one place that says under which environment and configuration.

Every command names its repository by GIT_DIR, always one whose files only the engine writes, so that no configuration,
hook, filter or fsmonitor of an agent is ever read; nor any of the person's own (system and global files are off).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nightcrew.core.errors import PortError, Unavailable
from nightcrew.process import Completed, TimedOut, clean_environment, run_process
from nightcrew.process.environment import BASE_VARIABLES
from nightcrew.workspaces.complaint import translate

LOCAL_TIMEOUT_S = 300.0
"""A command that works on this disk only."""

# Needed by transports: the person's ssh agent, proxies and certificates; by what signs, the agent and GnuPG's folder.
_TRANSPORT_VARIABLES = (
    "SSH_AUTH_SOCK", "GNUPGHOME", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
)  # fmt: skip

_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
    "LANGUAGE": "C",
}

_CONFIG = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.excludesFile=/dev/null",
    "core.attributesFile=/dev/null",
    "core.quotePath=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "safe.directory=*",
    "submodule.recurse=false",
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.http.allow=always",
    "protocol.ssh.allow=always",
    "protocol.git.allow=always",
    "protocol.file.allow=always",
    "protocol.ext.allow=never",
)


@dataclass(frozen=True, slots=True)
class Identity:
    """Who made a commit, and when: an aware time as seconds since 1970."""

    name: str
    email: str
    at_s: int


NIGHTCREW = "Nightcrew"
NIGHTCREW_EMAIL = "engine@service.nightcrew.invalid"
"""Not of the form that agents' addresses have by default: Nightcrew itself is no agent."""


@dataclass(frozen=True, slots=True)
class Git:
    """The git program. `where` is the repository (GIT_DIR) of a command."""

    program: str = "git"
    extra: Mapping[str, str] = field(default_factory=dict)

    async def run(
        self,
        where: Path,
        *args: str,
        doing: str = "",
        env: Mapping[str, str] | None = None,
        stdin: bytes | None = None,
        ok: tuple[int, ...] = (0,),
        timeout_s: float = LOCAL_TIMEOUT_S,
        output_cap: int = 64_000_000,
    ) -> Completed:
        """Run `git <args>` on the repository `where`; an end not in `ok` is raised as a translated error, a time-out
        as Unavailable. `doing` is what the error message says was being done."""
        environment = {**_ENVIRONMENT, **self.extra, "GIT_DIR": str(where), **(env or {})}
        tree = environment.get("GIT_WORK_TREE")
        argv = [self.program, *(part for setting in _CONFIG for part in ("-c", setting)), *args]
        what = doing or f"git {args[0]}"
        try:
            done = await run_process(
                argv,
                cwd=Path(tree) if tree else where,
                env=clean_environment(extra=environment, allow=(*BASE_VARIABLES, *_TRANSPORT_VARIABLES)),
                stdin=stdin,
                timeout_s=timeout_s,
                output_cap=output_cap,
            )
        except TimedOut as error:
            raise Unavailable(f"{what}: git did not end within {timeout_s:g} s and was stopped") from error
        if done.returncode not in ok:
            raise self.error(done, doing=what)
        return done

    def error(self, done: Completed, *, doing: str) -> PortError:
        """The error that an unsuccessful command stands for; porcelain output carries the reasons of a push."""
        said = (done.stderr + b"\n" + (done.stdout if "push" in done.argv else b"")).decode("utf-8", "replace")
        if done.returncode < 0:
            return Unavailable(f"{doing}: git was ended by signal {-done.returncode}")
        return translate(said, doing=doing)


def identity_environment(author: Identity, *, committer: Identity | None = None) -> dict[str, str]:
    """The variables that give a commit its author and committer, whatever is or is not configured."""
    other = committer or Identity(NIGHTCREW, NIGHTCREW_EMAIL, author.at_s)
    return {
        "GIT_AUTHOR_NAME": author.name,
        "GIT_AUTHOR_EMAIL": author.email,
        "GIT_AUTHOR_DATE": f"@{author.at_s} +0000",
        "GIT_COMMITTER_NAME": other.name,
        "GIT_COMMITTER_EMAIL": other.email,
        "GIT_COMMITTER_DATE": f"@{other.at_s} +0000",
    }
