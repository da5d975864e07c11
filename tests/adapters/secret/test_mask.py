"""Masking: every form, in pieces, wrapped and escaped; and nothing else."""

import base64
import json
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightcrew.secret import MASK, Masker, hide_addresses
from tests.adapters.secret.made import ALNUM, FORMS, WORD, draw, ordinary, private_key, tokens

LONG = "value-" + draw(40, seed=5)
SEVERAL = "\n".join(draw(40, ALNUM + "+/", seed=60 + number) for number in range(4))
MASKER = Masker([LONG, SEVERAL])


def wrap(text: str, at: int, by: str = "\n") -> str:
    return text[:at] + by + text[at:]


def gone(secret: str, text: str, *, part: int = 12) -> bool:
    """Whether no part of the secret that is worth something can be read."""
    flat = "".join(text.split()).replace("\\n", "")
    return not any(secret[at : at + part] in flat for at in range(len(secret) - part + 1))


@pytest.mark.case("C216")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("around", ["{}", "key = '{}'\n", '{{"text": "it is {}\\nnext"}}', "+{}", "a\n{}\nb", "({}),"])
def test_every_form_is_masked(form, around):
    for seed in range(1, 6):
        secret = tokens(seed)[form]
        masked = Masker().mask(around.format(secret))
        assert masked == around.format(MASK)


@pytest.mark.case("C216")
@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("telegram", "discord")])
@pytest.mark.parametrize("by", ["\n", "\r\n", "\n    ", "\\n"])
def test_a_line_wrap_anywhere_hides_nothing(form, by):
    secret = tokens()[form]
    for at in range(1, len(secret) - 4):
        masked = Masker().mask(f"it printed {wrap(secret, at, by)} and went on")
        assert masked.startswith(f"it printed {MASK}"), (at, masked)
        assert masked.endswith(" and went on")
        assert gone(secret, masked)


@pytest.mark.case("C216")
def test_a_private_key_is_masked_over_its_lines():
    for kind in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "):
        key = private_key(kind)
        assert Masker().mask(f"a\n{key}\nb") == f"a\n{MASK}\nb"
        as_json = json.dumps({"key": key})
        assert json.loads(Masker().mask(as_json)) == {"key": MASK}
        cut_off = "\n".join(key.split("\n")[:6])
        assert Masker().mask(f"{cut_off}\n\nand then") == f"{MASK}\n\nand then"


def test_a_header_without_a_key_stays():
    text = "looks for '-----BEGIN " + "PRIVATE KEY-----' in files"
    assert Masker().mask(text) == text
    certificate = private_key().replace("RSA PRIVATE KEY", "CERTIFICATE")
    assert Masker().mask(certificate) == certificate


@pytest.mark.case("C216")
@pytest.mark.parametrize("seed", range(1, 30))
def test_ordinary_text_stays(seed):
    text = ordinary(seed)
    assert Masker().mask(text) == text


@pytest.mark.case("C217")
def test_a_known_value_goes_in_every_spelling():
    odd = 'p"ss\\wörd/' + draw(12, seed=8)
    masker = Masker([odd, SEVERAL])
    for text in (
        odd,
        json.dumps(odd)[1:-1],
        json.dumps(odd, ensure_ascii=False)[1:-1],
        quote(odd, safe=""),
        base64.b64encode(odd.encode()).decode().rstrip("="),
        base64.b64encode(f"x-access-token:{odd}".encode()).decode().rstrip("="),
    ):
        assert masker.mask(f"<{text}>") == f"<{MASK}>", text


@pytest.mark.case("C217")
@pytest.mark.parametrize("by", ["\n", "\r\n", "\\n", "\n  "])
def test_a_value_of_several_lines_goes_whole_and_in_parts(by):
    lines = SEVERAL.split("\n")
    assert MASKER.mask(f"KEY={by.join(lines)}{by}PATH=/bin") == f"KEY={MASK}{by}PATH=/bin"
    assert MASKER.mask(lines[2] + "\n") == f"{MASK}\n"
    for at in range(1, len(LONG)):
        assert MASKER.mask(f"KEY={wrap(LONG, at, by)}{by}PATH=/bin") == f"KEY={MASK}{by}PATH=/bin"


@pytest.mark.case("C217")
def test_a_printed_environment_shows_names_alone():
    value = "unknown" + draw(20, seed=9)
    text = f"HOME=/home/ada\nSOME_API_KEY={value}\nexport DB_PASSWORD='{value}'\nMAX_TOKENS=4096\nTOKEN_URL=https://x.example\n"
    assert Masker().mask(text) == text.replace(value, MASK)


@pytest.mark.case("C215")
def test_a_remote_with_a_token_shows_none():
    token = tokens()["github app"]
    plain = draw(20, seed=4)
    for address in (
        f"https://x-access-token:{token}@forge.example/a/b.git",
        f"https://ada:{plain}@forge.example/a/b.git",
    ):
        masked = Masker().mask(f"origin\t{address} (push)")
        assert masked == f"origin\thttps://{MASK}@forge.example/a/b.git (push)"
    header = f"AUTHORIZATION: basic {base64.b64encode(f'ada:{plain}'.encode()).decode()}"
    assert plain not in Masker().mask(header)
    assert Masker().mask(header).startswith(f"AUTHORIZATION: basic {MASK}")


@pytest.mark.case("V121")
def test_a_challenge_in_an_address_is_masked():
    secret = draw(40, WORD, seed=3)
    text = f"Please visit: https://login.example/device?challenge={secret}&mode=cli to go on"
    assert Masker().mask(text) == f"Please visit: https://login.example/device?challenge={MASK}&mode=cli to go on"


@pytest.mark.case("V050")
def test_addresses_of_vendors_are_cut_to_their_host():
    text = "402 Payment Required, url: https://api.example/v1/org-77/chat?x=1 (see http://help.example)."
    assert hide_addresses(text) == "402 Payment Required, url: https://api.example (see http://help.example)."


def test_short_values_and_the_mask_itself_are_no_secrets():
    text = f"abc password {MASK}"
    assert Masker(["abc", "secret", MASK, "", "  "]).mask(text) == text


PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            [*tokens().values(), LONG, SEVERAL, private_key(), "sk-", "gho_", "\n", "\\n", " ", "eyJ", "://"]
        ),
        st.text(max_size=30),
        st.text(alphabet="aZ0-_.:@=/+\n ", max_size=60),
        st.builds(
            wrap, st.sampled_from([*tokens().values(), LONG]), st.integers(1, 40), st.sampled_from(["\n", "\r\n "])
        ),
    ),
    max_size=12,
)
FILLER = st.sampled_from([0, 100, 23_990, 30_000, 70_000])


@settings(max_examples=120, deadline=None)
@given(
    before=PIECES, filler=FILLER, after=PIECES, cuts=st.lists(st.integers(0, 120_000), max_size=6), line=st.booleans()
)
def test_in_pieces_or_whole_it_is_the_same(before, filler, after, cuts, line):
    text = "".join(before) + ("line of text\n" if line else "x" * 13) * (filler // 13) + "".join(after)
    whole = MASKER.mask(text)
    borders = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    stream = MASKER.stream()
    got = "".join(stream.feed(text[a:b]) for a, b in pairwise(borders)) + stream.end()
    assert got == whole
    assert MASKER.mask(whole) == whole
    assert LONG not in whole


@settings(max_examples=60, deadline=None)
@given(before=st.binary(max_size=200), after=st.binary(max_size=200), size=st.integers(1, 5_000), filler=FILLER)
def test_bytes_of_any_kind_come_through(before, after, size, filler):
    secret = tokens()["github oauth"].encode()
    data = before + b"\xff\n" * (filler // 2) + b" " + secret + b" " + after
    stream = MASKER.byte_stream()
    got = b"".join(stream.feed(data[at : at + size]) for at in range(0, len(data), size)) + stream.end()
    assert got == MASKER.mask_bytes(data)
    assert secret not in got
    assert stream.count >= 1
    plain = b"\xff\xfe caf\xc3\xa9 " + bytes(range(256))
    assert MASKER.mask_bytes(plain) == plain


@pytest.mark.parametrize(
    "piece",
    [
        "sk-",
        "eyJ",
        "TOKEN=",
        "://a:",
        "-----BEGIN " + "PRIVATE KEY-----",
        "gho_a\n",
        "a",
        "1",
        "MAAAAA",
        "?token=",
        "AKIA",
        "\\n",
    ],
)
def test_the_work_grows_with_the_text_alone(piece):
    """What looks like the beginning of a secret over and over: quadratic work would run into the time limit."""
    masked = Masker().mask(piece * (400_000 // len(piece)))
    assert len(masked) > 0
