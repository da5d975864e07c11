"""The keys about who signs what Nightcrew commits itself."""

from pathlib import Path

import pytest

from nightcrew.config.check import Surroundings, check_settings
from nightcrew.core.errors import ConfigError
from nightcrew.core.model.git import GitSettings, SignKind
from nightcrew.core.model.settings import Settings
from tests.adapters.config.reading import read


def test_nothing_is_signed_unless_it_is_said():
    assert read("").git == GitSettings()


def test_a_key_of_ssh_is_a_path_and_one_of_gpg_is_an_id():
    ssh = read("git: {sign: ssh, key: /keys/signing, email: me@example.com}\n").git
    assert ssh == GitSettings(SignKind.SSH, "/keys/signing", email="me@example.com")
    assert read("git: {sign: gpg, key: ABCD1234}\n").git.key == "ABCD1234"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("git: {sign: ssh}", "is missing"),
        ("git: {sign: gpg}", "is missing"),
        ("git: {sign: ssh, key: keys/signing}", "no absolute path"),
        ("git: {sign: gpg, key: --help}", "neither the path of a key nor the id of one"),
        ("git: {sign: yes, key: x}", "git.sign"),
    ],
)
def test_what_cannot_be_meant_is_refused(text, words):
    with pytest.raises(ConfigError) as caught:
        read(text + "\n")
    assert words in str(caught.value)


def problems(path: Path) -> list[str]:
    settings = Settings(git=GitSettings(SignKind.SSH, str(path)))
    found = check_settings(settings, Surroundings({}, path.parent))
    return [problem.what for problem in found if problem.where == "git.key"]


def test_a_key_that_is_missing_or_open_to_others_is_warned_of(tmp_path):
    path = tmp_path / "signing"
    assert problems(path) == [f"there is no file {path}"]
    path.write_text("x")
    path.chmod(0o644)
    assert len(problems(path)) == 1
    path.chmod(0o600)
    assert problems(path) == []
