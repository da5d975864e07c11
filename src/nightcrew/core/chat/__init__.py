"""What is said and asked in a chat, before any platform's form of it. Each platform's adapter is in `channels`."""
