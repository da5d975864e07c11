"""Scanning diffs: what is found, where, and what is left alone."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.secret import Hit, Masker, scan_diff, scan_text
from nightcrew.secret.diff import parse_added
from nightcrew.secret.scan import MOST_HITS
from tests.adapters.secret.made import FORMS, HEX, draw, ordinary, private_key, tokens


def git(folder: Path, *args: str) -> str:
    argv = ["git", "-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "core.autocrlf=false", *args]
    return subprocess.run(argv, cwd=folder, check=True, capture_output=True).stdout.decode("utf-8", "surrogateescape")


def added(text: str, path: str = "src/app.py", *, start: int = 1) -> str:
    lines = text.split("\n")
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -{start - 1},0 +{start},{len(lines)} @@\n"
    return head + "\n".join(f"+{line}" for line in lines)


@pytest.fixture
def repository(tmp_path):
    git(tmp_path, "init", "-q")
    return tmp_path


@pytest.mark.case("C216")
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_found_with_its_line(form):
    for seed in range(1, 6):
        secret = tokens(seed)[form]
        hits = scan_diff(added(f"a = 1\nkey = '{secret}'\nb = 2", start=41))
        assert [(hit.path, hit.line) for hit in hits] == [("src/app.py", 42)]
        assert secret not in str(hits)
        assert str(hits[0]) == f"src/app.py:42 ({hits[0].kind})"


def test_a_private_key_is_one_hit_at_its_first_line():
    assert scan_diff(added(f"x\n{private_key()}\ny")) == (Hit("src/app.py", 2, "private key"),)
    assert scan_diff(added("if '-----BEGIN " + "RSA PRIVATE KEY-----' in text:")) == ()


@pytest.mark.parametrize(
    "line",
    [
        "password = '{}'", "SECRET_KEY={}", '"api_key": "{}",', "auth_token: {}", "client_secret := `{}`",
        "https://ada:{}@forge.example/x", "aws_secret_access_key = '{}'",
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["a.py", ".env", "conf.yml", "main.go", "notes"])
def test_random_values_under_telling_names_are_found(line, path):
    value = draw(40, seed=12)
    assert [hit.line for hit in scan_diff(added(line.format(value), path))] == [1]


@pytest.mark.parametrize(
    "line",
    [
        "key = 'sk-fake'", "token = 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'", "password = 'correct horse battery staple'",
        "secret = get_secret('payments/production/database')", "token=${GITHUB_TOKEN_FROM_ENVIRONMENT_42}",
        "password: '{{ vault.database_password_2024 }}'", "https://user:password@forge.example/",
        "https://user:${TOKEN}@forge.example/", "api_key = 'your-api-key-goes-here-12345'", "passwd = None",
    ],
)  # fmt: skip
def test_what_stands_for_a_secret_is_none(line):
    expected = 1 if "user:password@" in line else 0
    assert len(scan_diff(added(line))) == expected


def test_dummies_of_a_known_form_are_none():
    for dummy in (
        "AK" + "IA" + "IOSFODNN7EXAMPLE",
        "gho" + "_" + "x" * 36,
        "sk-" + "ant-" + "api03-fake-key-for-the-tests-of-it",
        "ghp" + "_" + "0123456789abcdefghijklmnopqrstuvwxyz",
    ):
        assert scan_text(f"key = '{dummy}'") == ()


@pytest.mark.parametrize(
    "comment", ["# pragma: allowlist secret", "# nosec", "# gitleaks:allow", "# noqa", "# example"]
)
def test_no_comment_makes_a_secret_go_away(comment):
    """An agent can write it as well as a person."""
    secret = tokens()["github classic"]
    assert len(scan_diff(added(f"# pragma: allowlist nextline secret\nkey = '{secret}'  {comment}"))) == 1


@pytest.mark.parametrize("seed", range(1, 30))
def test_ordinary_text_is_no_hit(seed):
    assert scan_diff(added(ordinary(seed))) == ()
    assert scan_text(f"  resolved-hash: {draw(64, HEX, seed=seed)}\nuuid = '{draw(32, HEX, seed=seed)}'") == ()


def test_known_values_are_found_whatever_they_look_like():
    known = Masker(["plain words of a pass phrase"])
    diff = added("x\nsay('plain words of a pass phrase')")
    assert scan_diff(diff) == ()
    assert scan_diff(diff, known=known) == (Hit("src/app.py", 2, "known secret"),)


def test_only_what_is_added_counts(repository):
    secret, other = tokens(1)["github oauth"], tokens(2)["github oauth"]
    (repository / "old.txt").write_text("\n".join([f"line {n}" for n in range(40)] + [secret]) + "\n")
    (repository / "keep.txt").write_text(f"{secret}\nmiddle\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "one")
    (repository / "old.txt").rename(repository / "new name.txt")
    text = (repository / "new name.txt").read_text().replace("line 20", f"line 20\n{other}").replace(secret, "gone")
    (repository / "new name.txt").write_text(text)
    (repository / "keep.txt").write_text(f"{secret}\nmiddle\nend\n")
    git(repository, "add", "-A")
    diff = git(repository, "diff", "--cached", "--find-renames", "--src-prefix=a/", "--dst-prefix=b/")
    assert "rename to" in diff
    assert scan_diff(diff) == (Hit("new name.txt", 22, "GitHub token"),)


def test_paths_are_read_as_git_quotes_them(repository):
    secret = tokens()["aws"]
    names = ["with space.txt", "t\tab.txt", 'quo"te.txt', "größe.txt", "back\\slash.txt", "日本.txt"]
    for name in names:
        (repository / name).write_text(f"one\n{secret}\n")
    git(repository, "add", "-A")
    hits = scan_diff(git(repository, "diff", "--cached"))
    assert sorted(hit.path for hit in hits) == sorted(names)
    assert {hit.line for hit in hits} == {2}


def test_lines_that_look_like_headers_are_lines(repository):
    secret = tokens()["aws"]
    (repository / "a.patch").write_text(
        f"++ b/other.py\n@@ -1 +900 @@\n-- a/x\n\f{secret}\r\n\x85\u2028{secret}\nno end"
    )
    (repository / "picture.bin").write_bytes(b"\0" + secret.encode())
    git(repository, "add", "-A")
    hits = scan_diff(git(repository, "diff", "--cached"))
    assert [(hit.path, hit.line) for hit in hits] == [("a.patch", 4), ("a.patch", 5)]


def test_a_great_number_of_hits_is_cut():
    text = "\n".join(tokens(seed)["aws"] for seed in range(200))
    assert len(scan_diff(added(text))) == MOST_HITS
    assert scan_diff(added(text), most=3) == scan_diff(added(text))[:3]


@given(st.text(max_size=400))
def test_any_text_can_be_read_as_a_diff(text):
    for file in parse_added(text):
        assert len(file.lines) == len(file.numbers)
    scan_diff(text)


@given(st.lists(st.text(alphabet="ab+-@ \\\r\x0c\u2028", max_size=12), min_size=1, max_size=20))
def test_added_lines_come_back_as_they_were(lines):
    files = list(parse_added(added("\n".join(lines), start=7)))
    assert [line for file in files for line in file.lines] == lines
    assert [number for file in files for number in file.numbers] == list(range(7, 7 + len(lines)))


@pytest.mark.parametrize(
    "piece", ["sk-", "eyJ", "token=", "//", "://a:", "password", "key = ", "AKIA", "aws", "1-", "cl_key"]
)
@pytest.mark.parametrize("size", [90, 490, 1_900, 300_000])
def test_long_lines_take_no_long_time(piece, size):
    """Quadratic work would run into the time limit."""
    line = piece * (size // len(piece))
    assert len(scan_diff(added("\n".join([line] * (300_000 // size))))) <= MOST_HITS
