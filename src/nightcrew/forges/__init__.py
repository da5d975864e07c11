"""GitHub-compatible servers: a client for GitHub, and a forge of our own."""
