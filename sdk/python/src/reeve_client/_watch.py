import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence

import grpc
from reeve.run.v1 import run_event_pb2, run_service_pb2

from ._back_off import back_off
from ._connection import Source
from ._errors import ReeveError, answered, lost


class Watch:
    """The events of a run: `async for` gives each once and in order, over any number of lost connections, to the run's end.

    Raises a ReeveError when the server refuses, or when nothing came for `patience` seconds; iterated again, it goes on from
    where it was. `through_sequence` is the place from which to watch again. `end_status` tells how the run ended, and is
    RUN_STATUS_UNSPECIFIED until the watch has come to its end.
    """

    def __init__(
        self, source: Source, run_id: str, after: int, detailed: bool, families: Sequence[int] | None
    ) -> None:
        self.run_id = run_id
        self.through_sequence = after
        self.end_status = run_event_pb2.RUN_STATUS_UNSPECIFIED
        self._source = source
        self._detailed = detailed
        self._families = families

    def __aiter__(self) -> AsyncIterator[run_event_pb2.RunEvent]:
        return self._events()

    async def _events(self) -> AsyncGenerator[run_event_pb2.RunEvent, None]:
        patience = self._source.settings.patience
        until = time.monotonic() + patience
        failures = 0
        while not self.end_status:
            try:
                async for message in self._connected():
                    failures = 0
                    for event in message.events:
                        if event.sequence > self.through_sequence:
                            self.through_sequence = event.sequence
                            yield event
                    self.through_sequence = max(self.through_sequence, message.through_sequence)
                    self.end_status = message.end_status
                    until = time.monotonic() + patience
                if not self.end_status:
                    raise lost(f"the stream of run {self.run_id} ended before the run")
            except ReeveError as error:
                failures += 1
                await back_off(error, failures, until)

    async def _connected(self) -> AsyncGenerator[run_service_pb2.WatchRunResponse, None]:
        """What one connection gives. Whoever leaves ends the stream."""
        silence = self._source.settings.silence
        connection = self._source.current
        call = connection.runs.WatchRun(self._request(), metadata=connection.metadata)
        try:
            while (message := await asyncio.wait_for(answered(call, call.read()), silence)) is not grpc.aio.EOF:
                yield message
        except asyncio.TimeoutError:
            await self._source.renew(connection)
            raise lost(f"nothing was heard of run {self.run_id} for {silence} s") from None
        finally:
            call.cancel()

    def _request(self) -> run_service_pb2.WatchRunRequest:
        request = run_service_pb2.WatchRunRequest(run_id=self.run_id, after_sequence=self.through_sequence)
        if self._families is None:
            request.detailed = self._detailed
        else:
            request.families.families.extend(self._families)
        return request
