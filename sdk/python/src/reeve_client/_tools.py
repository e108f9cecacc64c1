import asyncio
import inspect
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import grpc
from google.protobuf import json_format, struct_pb2
from reeve.tool.v1 import client_tool_pb2, client_tool_service_pb2

from ._back_off import back_off, retry
from ._connection import Source
from ._errors import ReeveError, answered, lost

Result = str | Mapping[str, Any]


@dataclass(frozen=True)
class ToolCall:
    """A call that this process has received.

    `repeated` says that an earlier stream of the same client received the call: another process may have executed it.
    """

    run_id: str
    call_id: str
    name: str
    repeated: bool


@dataclass(frozen=True)
class ClientTool:
    """A tool that this process executes.

    `execute` receives the arguments and the call. It returns text, an object, or None, or an awaitable of one; what it raises, the model
    reads. `timeout` is in seconds: how long a call waits for its answer, by default 60, or a day if `answered_by_person`.
    `permission_class` is `network` by default.
    """

    name: str
    description: str
    execute: Callable[[dict[str, Any], ToolCall], Result | None | Awaitable[Result | None]]
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    permission_class: str = ""
    parallel_safe: bool = True
    timeout: float | None = None
    answered_by_person: bool = False


def manifest_of(client_id: str, tools: Sequence[ClientTool]) -> client_tool_pb2.ClientManifest:
    """Returns what a client tells a server about its tools. Pass it as `client_tools` to `start_run`, so that one run has them."""
    manifest = client_tool_pb2.ClientManifest(client_id=client_id)
    for tool in tools:
        entry = manifest.tools.add(
            name=tool.name,
            description=tool.description,
            permission_class=tool.permission_class,
            parallel_safe=tool.parallel_safe,
            answered_by_person=tool.answered_by_person,
        )
        if tool.input_schema is not None:
            json_format.ParseDict(dict(tool.input_schema), entry.input_schema)
        if tool.output_schema is not None:
            json_format.ParseDict(dict(tool.output_schema), entry.output_schema)
        if tool.timeout is not None:
            entry.timeout.FromTimedelta(timedelta(seconds=tool.timeout))
    return manifest


class ToolServer:
    """Offers tools and executes their calls, across lost connections, until the run has ended.

    Each call is executed once: an answer that did not reach the server is sent again. If the server refuses the tools for good, `serve`
    raises once the answers that it lacks were sent, after the request timeout at the latest.
    """

    def __init__(
        self,
        source: Source,
        tools: Sequence[ClientTool],
        client_id: str,
        thread_id: str,
        run_id: str,
        on_ready: Callable[[Sequence[str]], None] | None,
    ) -> None:
        self._source = source
        self._tools = {tool.name: tool for tool in tools}
        self._client_id = client_id
        self._on_ready = on_ready
        self._request = client_tool_service_pb2.OfferToolsRequest(manifest=manifest_of(client_id, tools))
        if run_id:
            self._request.run_id = run_id
        else:
            self._request.thread_id = thread_id
        self._executions: dict[tuple[str, str], _Execution] = {}

    async def serve(self) -> None:
        reconnect_timeout = self._source.settings.reconnect_timeout
        until = time.monotonic() + reconnect_timeout
        failures = 0
        try:
            while True:
                try:
                    async for message in self._connected():
                        if message.WhichOneof("event") != "ready":
                            failures = 0
                        self._handle(message)
                        until = time.monotonic() + reconnect_timeout
                    raise lost("the stream of the tools ended early")
                except ReeveError as error:
                    if error.reason == "RUN_ENDED":
                        return
                    failures += 1
                    await back_off(error, failures, until, _PASSING)
        except ReeveError:
            await self._finish()
            raise
        finally:
            for execution in self._executions.values():
                execution.task.cancel()

    async def _finish(self) -> None:
        """Ends the executions without an answer, and waits for some time until the others have sent theirs."""
        open_ones = [each for each in self._executions.values() if not each.task.done()]
        for execution in open_ones:
            if not execution.is_sending:
                execution.task.cancel()
        if open_ones:
            await asyncio.wait([each.task for each in open_ones], timeout=self._source.settings.request_timeout)

    async def _connected(self) -> AsyncGenerator[client_tool_service_pb2.OfferToolsResponse, None]:
        """Yields the messages of one stream. Closing the generator ends the stream."""
        idle_timeout = self._source.settings.idle_timeout
        connection = self._source.current
        call = connection.client_tools.OfferTools(self._request, metadata=connection.metadata)
        try:
            while (message := await asyncio.wait_for(answered(call, call.read()), idle_timeout)) is not grpc.aio.EOF:
                yield message
        except asyncio.TimeoutError:
            await self._source.renew(connection)
            raise lost(f"the stream of the tools was silent for {idle_timeout} s") from None
        finally:
            call.cancel()

    def _handle(self, message: client_tool_service_pb2.OfferToolsResponse) -> None:
        match message.WhichOneof("event"):
            case "ready":
                if self._on_ready is not None:
                    self._on_ready(list(message.ready.warnings))
            case "call":
                self._forget_old()
                call = message.call
                key = (call.run_id, call.call_id)
                if key not in self._executions:
                    self._executions[key] = _Execution(call, asyncio.create_task(self._run(call)))
            case "closed":
                execution = self._executions.pop((message.closed.run_id, message.closed.call_id), None)
                if execution is not None:
                    execution.task.cancel()

    def _forget_old(self) -> None:
        """Forgets finished executions after their deadline: until then a stream may deliver the call again."""
        before = time.time() - _CLOCK_SKEW
        for key, execution in list(self._executions.items()):
            if execution.task.done() and execution.deadline < before:
                del self._executions[key]

    async def _run(self, call: client_tool_service_pb2.OfferedCall) -> None:
        answer = await self._execute(call)
        execution = self._executions.get((call.run_id, call.call_id))
        if execution is not None:
            execution.is_sending = True
        if await self._send(call, answer):
            self._executions.pop((call.run_id, call.call_id), None)

    async def _execute(
        self, call: client_tool_service_pb2.OfferedCall
    ) -> client_tool_service_pb2.AnswerToolCallRequest:
        answer = client_tool_service_pb2.AnswerToolCallRequest(
            run_id=call.run_id, call_id=call.call_id, client_id=self._client_id
        )
        try:
            if call.name not in self._tools:
                raise LookupError(f"this client has no tool {call.name}")
            received = ToolCall(call.run_id, call.call_id, call.name, call.repeated_delivery)
            result = self._tools[call.name].execute(json_format.MessageToDict(call.arguments), received)
            if inspect.isawaitable(result):
                result = await result
            if result is None:
                answer.text = ""
            elif isinstance(result, str):
                answer.text = result
            elif isinstance(result, Mapping):
                answer.structured.CopyFrom(json_format.ParseDict(dict(result), struct_pb2.Struct()))
            else:
                raise TypeError(f"the tool {call.name} returned {type(result).__name__}; return text, or a mapping")
        except Exception as error:  # The model reads what the tool raises.
            answer.error = _shortened(str(error) or type(error).__name__)
        return answer

    async def _send(
        self, call: client_tool_service_pb2.OfferedCall, answer: client_tool_service_pb2.AnswerToolCallRequest
    ) -> bool:
        """Sends an answer until the server has it, or the deadline is over. Returns whether the server will never need it."""
        failures = 0
        while True:
            try:
                await self._answer(answer)
                return False
            except ReeveError as error:
                if error.code is grpc.StatusCode.NOT_FOUND or error.reason in _FINAL:
                    return True
                if error.code is grpc.StatusCode.INVALID_ARGUMENT:
                    if answer.WhichOneof("answer") == "error":
                        return False
                    # The model learns why, and nobody waits for the deadline.
                    answer.error = _shortened(error.message)
                    continue
                if time.time() >= _deadline_of(call):
                    return False
                failures += 1
                await asyncio.sleep(min(_FIRST_PAUSE * 2 ** min(failures - 1, 10), _MAX_PAUSE) * random.uniform(0.5, 1))

    async def _answer(self, answer: client_tool_service_pb2.AnswerToolCallRequest) -> None:
        async def attempt(timeout: float) -> None:
            connection = self._source.current
            call = connection.client_tools.AnswerToolCall(answer, metadata=connection.metadata, timeout=timeout)
            await answered(call, call)

        await retry(attempt, self._source.settings.request_timeout)


class _Execution:
    """A call that is known until the server closes it, or its deadline is over."""

    def __init__(self, call: client_tool_service_pb2.OfferedCall, task: asyncio.Task[None]) -> None:
        self.deadline = _deadline_of(call)
        self.task = task
        # Whether the call was executed, and its answer is being sent.
        self.is_sending = False


# Pauses between attempts to send an answer, in seconds.
_FIRST_PAUSE = 0.5
_MAX_PAUSE = 10.0
# Clocks may differ: an execution is remembered for these seconds after the deadline of its call.
_CLOCK_SKEW = 60.0
_MAX_ERROR_BYTES = 16_384
# The server has no room now: for anything, or for another client. Calls that were received can still be answered.
_PASSING = frozenset({"STORAGE_FULL", "TOO_MANY_CLIENTS"})
_FINAL = frozenset({"CALL_CLOSED", "CALL_ANSWERED", "RUN_ENDED"})


def _deadline_of(call: client_tool_service_pb2.OfferedCall) -> float:
    return call.deadline.seconds + call.deadline.nanos / 1e9


def _shortened(message: str) -> str:
    return message.encode("utf-8", "replace")[:_MAX_ERROR_BYTES].decode("utf-8", "ignore")
