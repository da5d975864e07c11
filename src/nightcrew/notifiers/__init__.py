"""One-way: telling somebody something, without an answer. Each implements `ports.notifier.Notifier`."""
