"""Two-way chat: Telegram and Discord. They turn messages into orders at the desk, and what is said into the platform's
form. They speak `ports.service` and know nothing of the engine."""
