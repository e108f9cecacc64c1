import asyncio
import inspect
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

    `execute` receives the arguments and the call. It returns text or an object, or an awaitable of one; what it raises, the model
    reads. `timeout` is in seconds: how long a call waits for its answer, by default 60, or a day if `answered_by_person`.
    `permission_class` is `network` by default.
    """

    name: str
    description: str
    execute: Callable[[dict[str, Any], ToolCall], Result | Awaitable[Result]]
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

    Each call is executed once: an answer that a lost connection kept from the server is sent again.
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
        self._executions: dict[str, asyncio.Task[client_tool_service_pb2.AnswerToolCallRequest]] = {}
        self._answers: set[asyncio.Task[None]] = set()

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
                    await back_off(error, failures, until)
        finally:
            for task in [*self._executions.values(), *self._answers]:
                task.cancel()

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
                call = message.call
                if call.call_id not in self._executions:
                    self._executions[call.call_id] = asyncio.create_task(self._execute(call))
                sending = asyncio.create_task(self._send(call.call_id))
                self._answers.add(sending)
                sending.add_done_callback(self._answers.discard)
            case "closed":
                execution = self._executions.pop(message.closed.call_id, None)
                if execution is not None:
                    execution.cancel()

    async def _execute(
        self, call: client_tool_service_pb2.OfferedCall
    ) -> client_tool_service_pb2.AnswerToolCallRequest:
        answer = client_tool_service_pb2.AnswerToolCallRequest(
            run_id=call.run_id, call_id=call.call_id, client_id=self._client_id
        )
        try:
            tool = self._tools[call.name]
            received = ToolCall(call.run_id, call.call_id, call.name, call.repeated_delivery)
            result = tool.execute(json_format.MessageToDict(call.arguments), received)
            if inspect.isawaitable(result):
                result = await result
            if isinstance(result, str):
                answer.text = result
            else:
                answer.structured.CopyFrom(json_format.ParseDict(dict(result), struct_pb2.Struct()))
        except Exception as error:  # The model reads what the tool raises.
            answer.error = str(error)[:4_000] or type(error).__name__
        return answer

    async def _send(self, call_id: str) -> None:
        execution = self._executions.get(call_id)
        if execution is None:
            return
        answer = await asyncio.shield(execution)
        try:
            await self._answer(answer)
        except ReeveError as error:
            if error.is_transient:
                # The call stays open, and its answer is sent when the server sends the call again.
                return
            if error.code is grpc.StatusCode.INVALID_ARGUMENT and answer.WhichOneof("answer") != "error":
                # The model learns why, and nobody waits for the deadline.
                answer.error = error.message
                try:
                    await self._answer(answer)
                except ReeveError:
                    pass
        self._executions.pop(call_id, None)

    async def _answer(self, answer: client_tool_service_pb2.AnswerToolCallRequest) -> None:
        async def attempt(timeout: float) -> None:
            connection = self._source.current
            call = connection.client_tools.AnswerToolCall(answer, metadata=connection.metadata, timeout=timeout)
            await answered(call, call)

        await retry(attempt, self._source.settings.request_timeout)
