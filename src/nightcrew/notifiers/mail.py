"""E-mail over SMTP. The library blocks, so that it runs in a thread, with its own time limit."""

import asyncio
import hashlib
import smtplib
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import format_datetime
from enum import Enum

from nightcrew.core.chat.message import Message
from nightcrew.core.errors import Denied, Invalid, OutcomeUnknown, Unavailable
from nightcrew.core.model.notice import Notice
from nightcrew.core.neutral import one_line
from nightcrew.ports.clock import Clock

TIMEOUT_S = 20.0


class Encryption(Enum):
    """How the connection is protected. NONE is for a server on this machine."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class MailSettings:
    host: str
    port: int
    encryption: Encryption
    sender: str
    recipients: tuple[str, ...]
    user: str = ""
    password: str = ""


class MailNotifier:
    """Implements `ports.notifier.Notifier`."""

    def __init__(self, settings: MailSettings, *, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock

    async def tell(self, message: Message, notices: Sequence[Notice]) -> None:
        mail = self._mail(message, notices)
        await asyncio.to_thread(self._send, mail)

    def _mail(self, message: Message, notices: Sequence[Notice]) -> EmailMessage:
        mail = EmailMessage()
        mail["From"] = self._settings.sender
        mail["To"] = ", ".join(self._settings.recipients)
        mail["Subject"] = one_line(f"[nightcrew] {message.text.partition(chr(10))[0]}", 150)
        mail["Date"] = format_datetime(self._clock.now())
        mail["Message-ID"] = _name(notices)
        mail["Auto-Submitted"] = "auto-generated"
        mail.set_content(message.text)
        return mail

    def _send(self, mail: EmailMessage) -> None:
        given, sent = self._settings, False
        try:
            with self._connection() as server:
                if given.encryption is Encryption.STARTTLS:
                    server.starttls(context=ssl.create_default_context())
                if given.user:
                    server.login(given.user, given.password)
                server.ehlo_or_helo_if_needed()
                sent = True
                server.send_message(mail)
        except smtplib.SMTPAuthenticationError as error:
            raise Denied(f"{given.host} does not take the login: {error.smtp_code}") from error
        except smtplib.SMTPNotSupportedError as error:
            raise Denied(f"{given.host}: {error}") from error
        except (smtplib.SMTPRecipientsRefused, smtplib.SMTPSenderRefused) as error:
            refused = Unavailable if _is_for_now(error) else Denied
            raise refused(f"{given.host} refuses the sender or every recipient") from error
        except smtplib.SMTPResponseException as error:
            kind = Unavailable if 400 <= error.smtp_code < 500 else Invalid
            raise kind(f"{given.host} answered {error.smtp_code}") from error
        except (OSError, smtplib.SMTPException) as error:
            words = f"{given.host}: {type(error).__name__}"
            raise (OutcomeUnknown(words) if sent else Unavailable(words)) from error

    def _connection(self) -> smtplib.SMTP:
        given = self._settings
        if given.encryption is Encryption.TLS:
            return smtplib.SMTP_SSL(given.host, given.port, timeout=TIMEOUT_S, context=ssl.create_default_context())
        return smtplib.SMTP(given.host, given.port, timeout=TIMEOUT_S)


def _name(notices: Sequence[Notice]) -> str:
    """The same for the same notices, so that many mail programs show one that was sent again only once."""
    told = "\n".join(f"{notice.id} {notice.at.isoformat()} {notice.project}" for notice in notices)
    return f"<nightcrew-{hashlib.sha256(told.encode()).hexdigest()[:32]}@nightcrew.invalid>"


def _is_for_now(error: smtplib.SMTPRecipientsRefused | smtplib.SMTPSenderRefused) -> bool:
    """Whether the server says to try again, as one does that does not know the sender yet (RFC 5321, 4.2.1)."""
    if isinstance(error, smtplib.SMTPSenderRefused):
        return 400 <= error.smtp_code < 500
    return any(400 <= code < 500 for code, _ in error.recipients.values())
