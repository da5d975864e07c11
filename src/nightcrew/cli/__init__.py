"""The command line: a thin client of the service's API. Nothing heavy is imported until a command needs it."""
