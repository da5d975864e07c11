"""Where the token comes from, and that it is never shown."""

import pytest

from nightcrew.core.errors import ConfigError
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.forges.github import resolve_token

HUB = ForgeSettings("github")
CORP = ForgeSettings("corp", base_url="https://git.corp/api/v3")


def with_gh(folder, *, says: str = "", code: int = 0) -> dict[str, str]:
    """An environment whose `gh` prints its arguments to a file and this token."""
    gh = folder / "gh"
    gh.write_text(f'#!/bin/sh\necho "$@" > "{folder}/asked"\n[ -n "{says}" ] && echo "{says}"\nexit {code}\n')
    gh.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


async def test_the_order_of_the_usual_places(tmp_path):
    places = {"NIGHTCREW_GITHUB_TOKEN": "first", "GH_TOKEN": "second", "GITHUB_TOKEN": "third"}
    environment = {**places, **with_gh(tmp_path, says="fourth")}
    for name, value in places.items():
        token = await resolve_token(HUB, environment=environment)
        assert (token.value, token.source) == (value, f"variable {name}")
        del environment[name]
    token = await resolve_token(HUB, environment=environment)
    assert (token.value, token.source) == ("fourth", "`gh auth token`")
    assert (tmp_path / "asked").read_text() == "auth token --hostname github.com\n"


async def test_a_token_for_github_is_not_given_to_another_server(tmp_path):
    environment = {
        "GH_TOKEN": "for the hub",
        "GITHUB_TOKEN": "too",
        "GH_ENTERPRISE_TOKEN": "ours",
        "PATH": str(tmp_path),
    }
    assert (await resolve_token(CORP, environment=environment)).value == "ours"
    del environment["GH_ENTERPRISE_TOKEN"]
    with pytest.raises(ConfigError, match=r"git\.corp"):
        await resolve_token(CORP, environment=environment)


async def test_a_reference_wins_and_must_hold(tmp_path):
    (tmp_path / "secret").write_text("from-file\n")
    environment = {"MINE": " from-env ", "GH_TOKEN": "usual"}
    assert (await resolve_token(ForgeSettings("x", token="env:MINE"), environment=environment)).value == "from-env"
    by_file = ForgeSettings("x", token=f"file:{tmp_path}/secret")
    assert (await resolve_token(by_file, environment=environment)).value == "from-file"
    for reference in ("env:ABSENT", f"file:{tmp_path}/absent", "ghp_plainsecret", "env:"):
        with pytest.raises(ConfigError, match=r"forges\.x\.token") as caught:
            await resolve_token(ForgeSettings("x", token=reference), environment=environment)
        assert "plainsecret" not in str(caught.value)


@pytest.mark.parametrize("code", [0, 1])
async def test_no_token_anywhere_says_what_to_do(tmp_path, code):
    with pytest.raises(ConfigError, match="NIGHTCREW_GITHUB_TOKEN"):
        await resolve_token(HUB, environment=with_gh(tmp_path, says="" if code == 0 else "error", code=code))


@pytest.mark.parametrize("value", ["two words", "new\nline", "ümlaut"])
async def test_what_cannot_be_a_token_is_refused_and_not_repeated(value):
    with pytest.raises(ConfigError) as caught:
        await resolve_token(HUB, environment={"GH_TOKEN": value})
    assert value not in str(caught.value)


async def test_a_token_shows_its_source_only():
    token = await resolve_token(HUB, environment={"GH_TOKEN": "ghp_secret"})
    assert "ghp_secret" not in repr(token) + str(token) + token.principal
    assert token.mask("x ghp_secret y") == "x *** y"
