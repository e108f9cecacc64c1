import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ._errors import ReeveError

_FIRST = 0.1
_LONGEST = 5.0
_Response = TypeVar("_Response")


async def back_off(error: ReeveError, failures: int, until: float) -> None:
    """Waits before the next attempt: longer each time, not all clients at once, and no less than the server asked for.

    Raises `error` instead if that would be later than `until`, a time of `time.monotonic()`.
    """
    most = min(_FIRST * 2 ** (failures - 1), _LONGEST)
    delay = max(most * random.uniform(0.5, 1), error.retry_after or 0)
    if not error.is_transient or time.monotonic() + delay >= until:
        raise error
    await asyncio.sleep(delay)


async def persistently(request: Callable[[float], Awaitable[_Response]], timeout: float) -> _Response:
    """Makes a request that may be repeated, again while no server can be reached, for `timeout` seconds in all."""
    until = time.monotonic() + timeout
    failures = 0
    while True:
        try:
            return await request(max(0.001, until - time.monotonic()))
        except ReeveError as error:
            failures += 1
            await back_off(error, failures, until)
