"""E-mail, against a server that speaks enough of SMTP and keeps what it is sent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email import message_from_string
from email.message import Message as Mail

import pytest

from nightcrew.core.errors import Denied, Invalid, OutcomeUnknown, Unavailable
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.policy.telling import render_notice
from nightcrew.notifiers.mail import Encryption, MailNotifier, MailSettings
from nightcrew.service.clock import SystemClock

NOTICE = Notice(
    "acme/widget", "blocked", Priority.URGENT, "Look\r\nBcc: a@b.example\n.\n", datetime(2026, 3, 3, tzinfo=UTC)
)


@dataclass(slots=True)
class MailServer:
    """`answers` replaces what is said to a command; an empty answer hangs up."""

    port: int = 0
    answers: dict[str, str] = field(default_factory=dict)
    mails: list[Mail] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 here\r\n")
        try:
            while line := await reader.readline():
                verb = line.decode().split()[0].upper()
                answer = self.answers.get(
                    verb, {"EHLO": "250 here", "DATA": "354 go on", "QUIT": "221 bye"}.get(verb, "250 ok")
                )
                if not answer:
                    return
                writer.write(answer.encode() + b"\r\n")
                if verb == "DATA" and answer.startswith("354"):
                    text = (await reader.readuntil(b"\r\n.\r\n")).decode()
                    self.mails.append(message_from_string(text.removesuffix("\r\n.\r\n")))
                    writer.write(b"250 taken\r\n")
        finally:
            writer.close()


@asynccontextmanager
async def mail_server() -> AsyncIterator[tuple[MailServer, MailNotifier]]:
    found = MailServer()
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        settings = MailSettings("127.0.0.1", port, Encryption.NONE, "night@a.example", ("me@a.example",))
        yield found, MailNotifier(settings, clock=SystemClock())


async def test_a_notice_is_one_mail_whose_words_make_no_headers():
    async with mail_server() as (server, notifier):
        await notifier.tell(render_notice(NOTICE), (NOTICE,))
        (mail,) = server.mails
        assert mail["Subject"].startswith("[nightcrew]")
        assert mail["Bcc"] is None
        assert "Bcc: a@b.example" in str(mail.get_payload())
        assert mail["Auto-Submitted"] == "auto-generated"


async def test_the_same_notices_have_the_same_name_however_often_they_are_sent():
    async with mail_server() as (server, notifier):
        for notice in (NOTICE, NOTICE, replace(NOTICE, id=2)):
            await notifier.tell(render_notice(notice), (notice,))
        first, again, other = (mail["Message-ID"] for mail in server.mails)
        assert first == again != other


@pytest.mark.parametrize(
    ("verb", "answer", "error"),
    [
        ("RCPT", "450 not yet", Unavailable),
        ("MAIL", "451 not yet", Unavailable),
        ("MAIL", "550 no", Denied),
        ("RCPT", "550 no", Denied),
        ("DATA", "451 later", Unavailable),
        ("DATA", "554 spam", Invalid),
        ("EHLO", "", Unavailable),
        ("DATA", "", OutcomeUnknown),
    ],
)
async def test_answers_are_told_apart(verb, answer, error):
    async with mail_server() as (server, notifier):
        server.answers[verb] = answer
        with pytest.raises(error):
            await notifier.tell(render_notice(NOTICE), (NOTICE,))


async def test_a_server_that_is_not_there_is_unavailable():
    async with mail_server() as (_server, notifier):
        pass
    with pytest.raises(Unavailable):
        await notifier.tell(render_notice(NOTICE), (NOTICE,))
