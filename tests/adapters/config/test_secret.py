import copy
import pickle
from pathlib import Path

import pytest

from nightcrew.config.secret import Secret, find_exposure, looks_secret, resolve_secret
from nightcrew.core.errors import ConfigError


def resolve(reference: str, base: Path, **environ: str) -> Secret:
    return resolve_secret(reference, "forges.github.token", environ=environ, base=base)


def test_each_kind_of_reference_gives_its_secret(tmp_path):
    (tmp_path / "token").write_text("s3cret\n")
    assert resolve("env:T", tmp_path, T="s3cret") == Secret("s3cret")
    assert resolve("file:token", tmp_path).reveal() == "s3cret"
    assert resolve(f"file:{tmp_path}/token", tmp_path / "elsewhere").reveal() == "s3cret"
    assert resolve("file:~/token", tmp_path / "elsewhere", HOME=str(tmp_path)).reveal() == "s3cret"
    assert resolve("s3cret", tmp_path).reveal() == "s3cret"


def test_a_secret_shows_itself_nowhere():
    secret = Secret("s3cret")
    shown = [
        repr(secret),
        str(secret),
        f"{secret}",
        f"{secret:>40}",
        "{}".format(*[secret]),
        repr([secret]),
        repr({"a": secret}),
    ]
    assert not any("s3cret" in text for text in shown)
    for write_down in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError):
            write_down(secret)
    assert not hasattr(secret, "__dict__")


def test_a_secret_is_compared_and_kept_by_its_value():
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2
    assert Secret("a") != "a"
    assert Secret("a")
    assert not Secret("")


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("env:NOT_SET", "the variable NOT_SET is not set"),
        ("env:EMPTY", "the variable EMPTY is not set"),
        ("file:nothing", "there is no file"),
        ("file:folder", "there is no file"),
        ("file:empty", "is empty"),
        ("file:binary", "is not UTF-8"),
        ("file:long", "too long"),
    ],
)
def test_a_reference_to_nothing_is_one_clear_error_that_names_the_key(tmp_path, reference, says):
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").write_text(" \n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "long").write_text("x" * 70_000)
    with pytest.raises(ConfigError) as caught:
        resolve(reference, tmp_path, EMPTY="")
    assert str(caught.value).startswith("forges.github.token: ")
    assert says in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("ANTHROPIC_API_KEY", "x", True),
        ("CLAUDE_CODE_OAUTH_TOKEN", "x", True),
        ("apiKey", "x", True),
        ("DB_PASSWORD", "x", True),
        ("ANTHROPIC_API_KEY", "env:X", False),
        ("ANTHROPIC_API_KEY", "file:x", False),
        ("ANTHROPIC_API_KEY", "", False),
        ("MAX_TOKENS", "4096", False),
        ("KEYBOARD", "de", False),
        ("ANTHROPIC_BASE_URL", "https://api.example.com", False),
        ("URL", "https://me:pw@example.com", True),
        ("X", "ghp_" + "a" * 36, True),
        ("X", "github_pat_" + "a" * 30, True),
        ("X", "sk-ant-" + "a" * 30, True),
    ],
)
def test_a_plain_secret_is_known_by_its_name_or_its_form(name, value, secret):
    assert looks_secret(name, value) is secret


def test_who_else_may_read_a_secret_file(tmp_path):
    path = tmp_path / "token"
    path.write_text("x")
    path.chmod(0o600)
    assert find_exposure(path) == ""
    path.chmod(0o640)
    assert "others may read" in find_exposure(path)
    assert find_exposure(tmp_path / "nothing") == ""
