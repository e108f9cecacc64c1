import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence

import grpc
from reeve.run.v1 import run_event_pb2, run_service_pb2

from ._back_off import back_off
from ._connection import Source
from ._errors import ReeveError, answered, lost


class Watch:
    """The events of a run: `async for` yields each exactly once and in order, across lost connections, until the run ends.

    Raises a ReeveError if the server refuses the request, or if nothing is received for `reconnect_timeout` seconds; a new
    `async for` continues after the last event. Pass `through_sequence` as `after` to continue in another watch.
    `end_status` is the terminal status of the run, or RUN_STATUS_UNSPECIFIED until the watch has ended.
    """

    def __init__(
        self,
        source: Source,
        run_id: str,
        after: int,
        detailed: bool,
        families: Sequence[int] | None,
        resume_token: str = "",
    ) -> None:
        self.run_id = run_id
        self.through_sequence = after
        self.resume_token = resume_token
        self.end_status = run_event_pb2.RUN_STATUS_UNSPECIFIED
        self._source = source
        self._detailed = detailed
        self._families = families

    def __aiter__(self) -> AsyncIterator[run_event_pb2.RunEvent]:
        return self._events()

    async def _events(self) -> AsyncGenerator[run_event_pb2.RunEvent, None]:
        reconnect_timeout = self._source.settings.reconnect_timeout
        until = time.monotonic() + reconnect_timeout
        failures = 0
        while not self.end_status:
            try:
                async for message in self._connected():
                    failures = 0
                    self.resume_token = message.resume_token
                    for event in message.events:
                        if event.sequence > self.through_sequence:
                            self.through_sequence = event.sequence
                            yield event
                    self.through_sequence = max(self.through_sequence, message.through_sequence)
                    self.end_status = message.end_status
                    until = time.monotonic() + reconnect_timeout
                if not self.end_status:
                    raise lost(f"the stream of run {self.run_id} ended before the run")
            except ReeveError as error:
                failures += 1
                await back_off(error, failures, until)

    async def _connected(self) -> AsyncGenerator[run_service_pb2.WatchRunResponse, None]:
        """Yields the messages of one stream. Closing the generator ends the stream."""
        idle_timeout = self._source.settings.idle_timeout
        connection = self._source.current
        call = connection.runs.WatchRun(self._request(), metadata=connection.metadata)
        try:
            while (message := await asyncio.wait_for(answered(call, call.read()), idle_timeout)) is not grpc.aio.EOF:
                yield message
        except asyncio.TimeoutError:
            await self._source.renew(connection)
            raise lost(f"the stream of run {self.run_id} was silent for {idle_timeout} s") from None
        finally:
            call.cancel()

    def _request(self) -> run_service_pb2.WatchRunRequest:
        request = run_service_pb2.WatchRunRequest(
            run_id=self.run_id, after_sequence=self.through_sequence, resume_token=self.resume_token
        )
        if self._families is None:
            request.detailed = self._detailed
        else:
            request.families.families.extend(self._families)
        return request
