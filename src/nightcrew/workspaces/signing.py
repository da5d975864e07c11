"""Signing the commits that the engine makes and pushes. What signs, and with which key, comes from the person's
settings alone, as arguments of the one command: no configuration that lies in a repository is asked."""

from dataclasses import dataclass

from nightcrew.core.model.git import GitSettings, SignKind
from nightcrew.workspaces.git import Identity


@dataclass(frozen=True, slots=True)
class Signing:
    """How `git commit-tree` is called for a commit that is to be published."""

    settings: GitSettings = GitSettings()

    def words(self, *, is_published: bool) -> tuple[str, ...]:
        """The command up to its own arguments. A key that is not there, or a passphrase that nobody gives, fails it:
        nothing is published unsigned for that."""
        if not is_published or self.settings.sign is SignKind.OFF:
            return ("commit-tree",)
        key = self.settings.key
        if self.settings.sign is SignKind.GPG:
            return ("-c", "gpg.format=openpgp", "-c", "gpg.program=gpg", "commit-tree", f"-S{key}")
        return (
            "-c", "gpg.format=ssh", "-c", "gpg.ssh.program=ssh-keygen", "-c", f"user.signingKey={key}",
            "commit-tree", "-S",
        )  # fmt: skip

    def committer(self, at_s: int) -> Identity:
        """Who commits it."""
        return Identity(self.settings.name, self.settings.email, at_s)


UNSIGNED = Signing()
