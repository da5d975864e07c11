"""A program that takes every connection on a port and never comes to an end with any, until it is ended. It prints the
port. With `drips` it sends a byte now and then."""

import asyncio
import sys

from tests.fakes.silent import SilentServer


async def main() -> None:
    async with SilentServer(drips="drips" in sys.argv[1:]).running() as port:
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
