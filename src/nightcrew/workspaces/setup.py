"""Making a fresh worktree usable: the files a person names, then their setup commands, with a log.

The commands are settings, but what they run is the repository's content. Without a sandbox they run with the person's
HOME, so that shared caches of package managers serve every workspace.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from nightcrew.core.errors import Invalid
from nightcrew.core.model.settings import SetupCommand
from nightcrew.ports.workspace import Confinement
from nightcrew.process import NotFound, TimedOut, clean_environment, run_process
from nightcrew.process.environment import BASE_VARIABLES
from nightcrew.workspaces.complaint import clean
from nightcrew.workspaces.file import find_bytes, is_folder, is_there, replace_file

_LAST_LINES = 15
_OUTPUT_CAP = 2_000_000
_CACHE_VARIABLES = (
    "XDG_CACHE_HOME", "XDG_DATA_HOME", "PIP_CACHE_DIR", "UV_CACHE_DIR", "npm_config_cache", "YARN_CACHE_FOLDER",
    "PNPM_HOME", "CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOCACHE", "GOMODCACHE", "GRADLE_USER_HOME", "MAVEN_OPTS",
    "JAVA_HOME", "NVM_DIR", "PYENV_ROOT", "ASDF_DATA_DIR", "MISE_DATA_DIR", "CCACHE_DIR", "SCCACHE_DIR",
)  # fmt: skip


def copy_files(source: str, names: Sequence[str], *, tree: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Copy the named files from a checkout into the worktree; returns those copied, and warnings about the others.

    Only regular files, inside both folders, and never through a symbolic link that leads out. A file that is there
    already (since the repository has it) stays as it is.
    """
    copied: list[str] = []
    warnings: list[str] = []
    for name in names:
        if why := _copy(Path(source), name, tree=tree) if source else "no source is set for files to copy":
            warnings.append(f"{clean(name)} was not copied: {why}")
        else:
            copied.append(PurePosixPath(name).as_posix())
    return tuple(copied), tuple(warnings)


def _copy(source: Path, name: str, *, tree: Path) -> str:
    """Copy one; returns why not, or nothing."""
    path = PurePosixPath(name)
    if not name or "\0" in name or path.is_absolute() or ".." in path.parts or ".git" in path.parts:
        return "its path has to be relative and to stay inside"
    origin = (source / path).resolve()
    if not origin.is_relative_to(source.resolve()):
        return "it leads out of the source"
    if not origin.is_file():
        return f"there is no such file in {source}"
    target = tree / path
    folder = tree
    for part in path.parts[:-1]:
        folder = folder / part
        if is_there(folder) and not is_folder(folder):
            return f"{part} is not a folder in the workspace"
    if is_there(target):
        return "" if find_bytes(target) == find_bytes(origin) else "the workspace has that file already"
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(origin, target)
    return ""


def exclude_files(agents: Path, names: Sequence[str]) -> None:
    """Have git in the worktrees not offer copied files for committing. Collecting leaves them out in any case."""
    path = agents / "info" / "exclude"
    lines = (find_bytes(path) or b"").decode("utf-8", "replace").splitlines()
    special = str.maketrans({mark: f"\\{mark}" for mark in "\\*?[] !#"})
    wanted = [line for name in names if (line := "/" + name.translate(special)) not in lines and "\n" not in name]
    if wanted:
        replace_file(path, ("\n".join([*lines, *wanted]) + "\n").encode("utf-8", "replace"))


async def run_setup(commands: Sequence[SetupCommand], *, tree: Path, log: Path, confinement: Confinement) -> None:
    """Run them one after the other in the worktree; the first that fails is raised as Invalid with its last lines."""
    env = confinement.env
    if env is None:
        env = clean_environment(allow=(*BASE_VARIABLES, *_CACHE_VARIABLES))
    for command in commands:
        shown = clean(" ".join(command.argv), limit=300)
        append_log(log, f"$ {shown}\n".encode())
        try:
            done = await run_process(
                confinement.wrap(command.argv),
                cwd=tree,
                env=env,
                timeout_s=command.timeout_s,
                output_cap=_OUTPUT_CAP,
            )
        except TimedOut as error:
            append_log(log, error.output + f"\n[stopped after {command.timeout_s:g} s]\n".encode())
            raise Invalid(
                f"the setup command `{shown}` did not end within {command.timeout_s:g} s; "
                f"its last lines:\n{_last(error.output)}\nall of it is in {log}"
            ) from error
        except NotFound as error:
            append_log(log, f"[{error}]\n".encode())
            raise Invalid(f"the setup command `{shown}` cannot be started: {error}") from error
        output = done.stdout + done.stderr
        append_log(log, output + f"\n[exit {done.returncode}]\n".encode())
        if not done.ok:
            raise Invalid(
                f"the setup command `{shown}` ended with {done.returncode}; its last lines:\n{_last(output)}\n"
                f"all of it is in {log}"
            )


def append_log(log: Path, content: bytes) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        file.write(content)


def _last(output: bytes) -> str:
    return clean("\n".join(output.decode("utf-8", "replace").strip().splitlines()[-_LAST_LINES:]))
