import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ._errors import ReeveError

_FIRST_DELAY = 0.1
_MAX_DELAY = 5.0
_Response = TypeVar("_Response")


async def back_off(error: ReeveError, failures: int, until: float, passing: frozenset[str] = frozenset()) -> None:
    """Waits before the next attempt: with exponential backoff and jitter, but at least as long as the server requested.

    Raises `error` if it is permanent, and not for a reason in `passing`, or if the next attempt would start after `until`, a time of
    `time.monotonic()`.
    """
    max_delay = min(_FIRST_DELAY * 2 ** (failures - 1), _MAX_DELAY)
    delay = max(max_delay * random.uniform(0.5, 1), error.retry_after or 0)
    is_transient = error.is_transient or error.reason in passing
    if not is_transient or time.monotonic() + delay >= until:
        raise error
    await asyncio.sleep(delay)


async def retry(request: Callable[[float], Awaitable[_Response]], timeout: float) -> _Response:
    """Sends a request that is safe to repeat, and repeats it while no server can be reached.

    `timeout` is the time limit of all attempts together, in seconds. `request` receives the remaining time.
    """
    until = time.monotonic() + timeout
    failures = 0
    while True:
        try:
            return await request(max(0.001, until - time.monotonic()))
        except ReeveError as error:
            failures += 1
            await back_off(error, failures, until)
