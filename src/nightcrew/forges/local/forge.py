"""The forge itself: its folder, its clock, and what its keeper may do to it without going through the API.

Seeding of Actions runs is in `workflow`; rules and protection are set here, because GitHub's API for writing them is
not part of the subset.
"""

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from nightcrew.core.errors import Conflict, Invalid, Missing
from nightcrew.forges.local.access import digest
from nightcrew.forges.local.call import RANKS
from nightcrew.forges.local.fault import Faults
from nightcrew.forges.local.git import Git
from nightcrew.forges.local.limit import LimitPolicy, Limits
from nightcrew.forges.local.moment import render_moment
from nightcrew.forges.local.origin import make_repository, valid_name
from nightcrew.forges.local.repository import REPOSITORY
from nightcrew.forges.local.request_log import RequestLog
from nightcrew.forges.local.store import Row, Store

_FLAGS = frozenset(
    {
        "allow_merge_commit",
        "allow_squash_merge",
        "allow_rebase_merge",
        "delete_branch_on_merge",
        "private",
        "has_issues",
    }
)


class LocalForge:
    """A forge in the folder `root`: `forge.db` and `repos/<owner>/<name>.git`.

    `clock` gives the time (aware UTC) for everything, limits included. Repositories are named `owner/name` throughout.
    Methods raise Missing for what is not there, Conflict for what is there already and Invalid for bad input.
    """

    def __init__(self, root: Path, *, clock: Callable[[], datetime], limit_policy: LimitPolicy | None = None) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root = root
        self.now = clock
        self.store = Store.open(root / "forge.db")
        self.faults = Faults(self.store)
        self.limits = Limits(limit_policy or LimitPolicy())
        self.log = RequestLog()
        self.log_key = self._ensure_key()

    def close(self) -> None:
        self.store.close()

    def _ensure_key(self) -> bytes:
        self.store.run("INSERT OR IGNORE INTO fact VALUES ('log_key', ?)", secrets.token_hex(32))
        return bytes.fromhex(self.store.get("SELECT value FROM fact WHERE name = 'log_key'")["value"])

    @property
    def _at(self) -> str:
        return render_moment(self.now())

    # People and tokens

    def ensure_user(
        self, login: str, *, token: str | None = None, name: str | None = None, email: str | None = None
    ) -> int:
        """The user's id; created when absent. With `token`, that token is theirs."""
        row = self.store.find("SELECT id FROM user WHERE login = ? AND deleted = 0", login)
        if row is None and not valid_name(login.removesuffix("[bot]")):
            raise Invalid(f"not a login: {login!r}")
        key = int(row["id"]) if row else self._insert_user(login, name=name, email=email)
        if token is not None:
            self.add_token(login, token)
        return key

    def _insert_user(self, login: str, *, name: str | None, email: str | None, kind: str = "User") -> int:
        address = email or f"{login}@users.noreply.localhost"
        return self.store.insert("user", login=login, name=name, email=address, type=kind, created_at=self._at)

    def add_token(
        self,
        login: str,
        token: str,
        *,
        permissions: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        scopes: Sequence[str] = (),
    ) -> None:
        """Another token of a user. `permissions` (such as `{"issues": "write"}`) makes it a fine-grained one; `scopes`
        limits a classic one, where boards are asked for."""
        self.store.run(
            "INSERT INTO token (digest, user_id, app_id, permissions, expires_at) VALUES (?, ?, NULL, ?, ?)"
            " ON CONFLICT (digest) DO UPDATE SET user_id = excluded.user_id, permissions = excluded.permissions,"
            " expires_at = excluded.expires_at",
            digest(token),
            self._user(login)["id"],
            json.dumps(dict(permissions)) if permissions is not None else None,
            render_moment(expires_at) if expires_at else None,
        )
        key = self.store.get("SELECT id FROM token WHERE digest = ?", digest(token))["id"]
        self.store.run("DELETE FROM token_scope WHERE token_id = ?", key)
        for name in scopes:
            self.store.insert("token_scope", token_id=key, name=name)

    def ensure_app(self, slug: str, *, owner: str, token: str, expires_at: datetime | None = None) -> int:
        """An app with an installation token, acting as `slug[bot]`; only apps may write check runs."""
        key, bot_id = self._ensure_app(slug, owner=owner)
        ends = render_moment(expires_at) if expires_at else None
        self.store.insert("token", digest=digest(token), user_id=bot_id, app_id=key, expires_at=ends)
        return key

    def install_app(self, slug: str, *, owner: str, public_key: str, permissions: Mapping[str, str]) -> tuple[int, int]:
        """The same with an installation that gets its tokens over the API, by claims that the private key to this one
        signs. The ids of the app and of its installation."""
        key, _ = self._ensure_app(slug, owner=owner)
        granted = json.dumps(dict(permissions))
        made = self.store.insert("installation", app_id=key, public_key=public_key, permissions=granted)
        return key, made

    def _ensure_app(self, slug: str, *, owner: str) -> tuple[int, int]:
        row = self.store.find("SELECT id FROM app WHERE slug = ?", slug)
        owner_id = self._user(owner)["id"]
        key = (
            row["id"] if row else self.store.insert("app", slug=slug, name=slug, owner_id=owner_id, created_at=self._at)
        )
        login = f"{slug}[bot]"
        bot = self.store.find("SELECT id FROM user WHERE login = ?", login)
        bot_id = bot["id"] if bot else self._insert_user(login, name=None, email=None, kind="Bot")
        return int(key), int(bot_id)

    def delete_user(self, login: str) -> None:
        """From now on `user: null` wherever the account stood."""
        self.store.update("user", self._user(login)["id"], deleted=1)

    def _user(self, login: str) -> Row:
        row = self.store.find("SELECT * FROM user WHERE login = ? AND deleted = 0", login)
        if row is None:
            raise Missing(f"no user {login!r} on the forge")
        return row

    # Repositories

    async def create_repository(
        self,
        full_name: str,
        *,
        import_from: Path | None = None,
        files: Mapping[str, str] | None = None,
        default_branch: str = "main",
        private: bool = False,
        description: str | None = None,
    ) -> Path:
        """A repository with an initial commit of `files`, or with all branches and tags of a local one, or empty.

        The owner is created when absent. Returns the path of the bare repository.
        """
        owner, name = self._split(full_name)
        owner_id = self.ensure_user(owner)
        path = self._path(owner, name)
        if self._find(full_name) is not None:
            raise Conflict(f"{full_name} is on the forge already")
        author = self._user(owner)
        branch = await make_repository(
            path,
            default_branch=default_branch,
            import_from=import_from,
            files=files,
            author=(author["name"] or owner, author["email"]),
            at=self.now(),
        )
        at = self._at
        with self.store.transaction():
            self.store.run("DELETE FROM former_name WHERE owner = ? AND name = ?", owner, name)
            key = self.store.insert(
                "repository", owner_id=owner_id, name=name, description=description, private=private,
                default_branch=branch, created_at=at, updated_at=at, pushed_at=at,
            )  # fmt: skip
        for head, sha in (await Git(path).heads()).items():
            self.store.insert("branch", repository_id=key, name=head, sha=sha)
        return path

    def find_repository(self, full_name: str) -> Path | None:
        """Where the bare repository is, or None."""
        row = self._find(full_name)
        return self._path(row["owner"], row["name"]) if row else None

    def configure(self, full_name: str, **flags: bool) -> None:
        """Switch settings: allow_merge_commit, allow_squash_merge, allow_rebase_merge, delete_branch_on_merge,
        private, has_issues."""
        if unknown := flags.keys() - _FLAGS:
            raise Invalid(f"no such setting: {', '.join(sorted(unknown))}")
        self.store.update("repository", self._get(full_name)["id"], updated_at=self._at, **flags)

    def set_permission(self, full_name: str, login: str, permission: str) -> None:
        """Make a user a collaborator: none, read, triage, write, maintain or admin."""
        if permission not in RANKS:
            raise Invalid(f"no such permission: {permission!r}")
        self.store.run(
            "INSERT INTO collaborator VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET permission = excluded.permission",
            self._get(full_name)["id"],
            self._user(login)["id"],
            permission,
        )

    def rename_repository(self, full_name: str, name: str) -> Path:
        """The old name redirects from now on; plain git finds it there too, by a link."""
        row = self._get(full_name)
        if not valid_name(name):
            raise Invalid(f"not a repository name: {name!r}")
        if self._find(f"{row['owner']}/{name}"):
            raise Conflict(f"{row['owner']}/{name} is on the forge already")
        old, new = self._path(row["owner"], row["name"]), self._path(row["owner"], name)
        if new.is_symlink():
            new.unlink()
        old.rename(new)
        old.symlink_to(new.name)
        with self.store.transaction():
            self.store.run("DELETE FROM former_name WHERE owner = ? AND name = ?", row["owner"], name)
            self.store.insert("former_name", owner=row["owner"], name=row["name"], repository_id=row["id"])
            self.store.update("repository", row["id"], name=name, updated_at=self._at)
        return new

    def block_repository(self, full_name: str, *, reason: str = "tos") -> None:
        """Answer 451 for it."""
        block = json.dumps({"reason": reason, "created_at": self._at})
        self.store.update("repository", self._get(full_name)["id"], block=block)

    def delete_issue(self, full_name: str, number: int) -> None:
        """Answer 410 for it."""
        done = self.store.find(
            "UPDATE issue SET deleted = 1 WHERE repository_id = ? AND number = ? RETURNING id",
            self._get(full_name)["id"],
            number,
        )
        if done is None:
            raise Missing(f"no issue {full_name}#{number}")

    async def rename_branch(self, full_name: str, branch: str, new: str) -> None:
        """As on the web: pull requests into it, its protection and the default branch go with it."""
        row = self._get(full_name)
        git = self.git_of(row)
        sha = await git.branch(branch)
        if sha is None:
            raise Missing(f"{full_name} has no branch {branch}")
        await git.set_ref(f"refs/heads/{new}", sha)
        with self.store.transaction():
            for table, column in (("branch", "name"), ("protection", "branch")):
                self.store.run(
                    f"UPDATE {table} SET {column} = ? WHERE repository_id = ? AND {column} = ?",  # noqa: S608 - names above
                    new, row["id"], branch,
                )  # fmt: skip
            self.store.run(
                "UPDATE pull SET base_ref = ? WHERE base_ref = ? AND issue_id IN"
                " (SELECT id FROM issue WHERE repository_id = ? AND state = 'open')",
                new, branch, row["id"],
            )  # fmt: skip
            if row["default_branch"] == branch:
                self.store.update("repository", row["id"], default_branch=new)
        if row["default_branch"] == branch:
            await git.run("symbolic-ref", "HEAD", f"refs/heads/{new}")
        await git.delete_ref(f"refs/heads/{branch}", old=sha)

    # Rules

    def protect_branch(
        self,
        full_name: str,
        branch: str,
        *,
        contexts: Sequence[str] = (),
        approvals: int | None = None,
        strict: bool = False,
        dismiss_stale: bool = False,
        enforce_admins: bool = True,
        switches: Sequence[str] = (),
    ) -> None:
        """Classic protection: required checks and approving reviews (None: reviews are not asked for); `switches` are
        others that are on (`required_signatures`, `required_linear_history`)."""
        detail = {
            "contexts": list(contexts), "approvals": approvals, "strict": strict,
            "dismiss_stale": dismiss_stale, "enforce_admins": enforce_admins,
            "switches": list(switches),
        }  # fmt: skip
        self.store.run(
            "INSERT INTO protection VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET detail = excluded.detail",
            self._get(full_name)["id"],
            branch,
            json.dumps(detail),
        )

    def add_ruleset(
        self,
        full_name: str,
        name: str,
        *,
        contexts: Sequence[str] = (),
        approvals: int = 0,
        strict: bool = False,
        include: Sequence[str] = ("~DEFAULT_BRANCH",),
        exclude: Sequence[str] = (),
        enforcement: str = "active",
    ) -> int:
        """A ruleset on branches. Patterns are full refs, `~ALL` or `~DEFAULT_BRANCH`."""
        rules: list[dict[str, Any]] = []
        if contexts:
            checks = [{"context": context} for context in contexts]
            parameters = {"required_status_checks": checks, "strict_required_status_checks_policy": strict}
            rules.append({"type": "required_status_checks", "parameters": parameters})
        if approvals:
            rules.append({"type": "pull_request", "parameters": _review_rule(approvals)})
        return self._insert_ruleset(full_name, name, rules, include=include, exclude=exclude, enforcement=enforcement)

    def add_rules(self, full_name: str, name: str, *, methods: Sequence[str] = (), kinds: Sequence[str] = ()) -> int:
        """A ruleset on the default branch: `methods` are the only ways to merge; `kinds` are rules without parameters,
        such as `required_signatures`."""
        rules: list[dict[str, Any]] = [{"type": kind} for kind in kinds]
        if methods:
            rules.append({"type": "pull_request", "parameters": _review_rule(0, methods)})
        return self._insert_ruleset(full_name, name, rules)

    def _insert_ruleset(
        self,
        full_name: str,
        name: str,
        rules: Sequence[Mapping[str, Any]],
        *,
        include: Sequence[str] = ("~DEFAULT_BRANCH",),
        exclude: Sequence[str] = (),
        enforcement: str = "active",
    ) -> int:
        return self.store.insert(
            "ruleset", repository_id=self._get(full_name)["id"], name=name, enforcement=enforcement,
            include=json.dumps(list(include)), exclude=json.dumps(list(exclude)), rules=json.dumps(list(rules)),
            created_at=self._at,
        )  # fmt: skip

    # Where things are

    def git_of(self, row: Row) -> Git:
        """Git on a repository's row."""
        return Git(self._path(row["owner"], row["name"]))

    def repository_id(self, full_name: str) -> int:
        return int(self._get(full_name)["id"])

    def _path(self, owner: str, name: str) -> Path:
        return self.root / "repos" / owner.lower() / f"{name.lower()}.git"

    @staticmethod
    def _split(full_name: str) -> tuple[str, str]:
        owner, _, name = full_name.partition("/")
        if not valid_name(owner) or not valid_name(name):
            raise Invalid(f"not owner/name: {full_name!r}")
        return owner, name

    def _find(self, full_name: str) -> Row | None:
        owner, name = self._split(full_name)
        return self.store.find(f"{REPOSITORY} WHERE login = ? AND repository.name = ?", owner, name)

    def _get(self, full_name: str) -> Row:
        row = self._find(full_name)
        if row is None:
            raise Missing(f"no repository {full_name} on the forge")
        return row


def _review_rule(approvals: int, methods: Sequence[str] = ()) -> dict[str, Any]:
    switches = (
        "dismiss_stale_reviews_on_push", "require_code_owner_review", "require_last_push_approval",
        "required_review_thread_resolution",
    )  # fmt: skip
    return {
        "required_approving_review_count": approvals,
        "allowed_merge_methods": list(methods) or ["merge", "squash", "rebase"],
        **dict.fromkeys(switches, False),
    }
