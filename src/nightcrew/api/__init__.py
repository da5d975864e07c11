"""The REST API over a Unix socket: the service port as HTTP. It holds no rule of its own."""
