"""Web pages of other sites cannot use the API, whatever it is bound to."""

import pytest

from tests.adapters.api.serving import asked
from tests.fakes.service import FakeService


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://[bad"},
    ],
)
async def test_a_page_of_another_site_is_refused(tmp_path, headers):
    service = FakeService()
    async with asked(service, tmp_path) as client:
        answer = await client.post("/pause", json={}, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "denied")
    assert not service.paused


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Host": "127.0.0.1:8080"},
        {"Host": "[::1]:8080"},
        {"Host": "localhost", "Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
    ],
)
async def test_our_own_clients_are_let_in(tmp_path, headers):
    service = FakeService()
    async with asked(service, tmp_path) as client:
        answer = await client.post("/pause", json={}, headers=headers)
    assert answer.status_code == 200
    assert service.paused
