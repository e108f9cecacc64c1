"""A plugin in Python that limits the calls and the time of a run. It has a hook in every phase.

The first argument is the address to listen on. If PLUGIN_TOKEN is set, callers must send it as a bearer token. If
PLUGIN_JOURNAL is set, each hook adds a line to this file.
"""

import hmac
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Struct, Value

from reeve.plugin.v1 import plugin_pb2 as messages
from reeve.plugin.v1 import plugin_pb2_grpc as services

VERSION = "1.0.0"
CALLS = "call-limit-python.calls"
DEFAULTS = {"max_calls": 10, "time_limit_seconds": 600}


def struct(value: dict) -> Struct:
    return ParseDict(value, Struct())


DESCRIPTOR = messages.PluginDescriptor(
    id="call-limit-python",
    version=VERSION,
    phases=[
        messages.HOOK_PHASE_RUN_START,
        messages.HOOK_PHASE_STEP_START,
        messages.HOOK_PHASE_BEFORE_INFERENCE,
        messages.HOOK_PHASE_AFTER_INFERENCE,
        messages.HOOK_PHASE_TOOL_GATE,
        messages.HOOK_PHASE_BEFORE_TOOL,
        messages.HOOK_PHASE_AFTER_TOOL,
        messages.HOOK_PHASE_STEP_END,
        messages.HOOK_PHASE_RUN_END,
    ],
    section_schema=struct(
        {
            "type": "object",
            "properties": {
                "max_calls": {"type": "integer", "minimum": 0},
                "time_limit_seconds": {"type": "integer", "minimum": 1},
            },
            "additionalProperties": False,
        }
    ),
    state_keys=[messages.StateKey(name=CALLS, merge=messages.MERGE_MODE_SUM)],
    tools=[
        messages.PluginTool(
            name="remaining",
            description="Returns how many calls of tools are left.",
            permission_class="safe",
            idempotent=True,
        )
    ],
    handles_actions=True,
)


def section_of(request) -> dict:
    given = MessageToDict(request.section) if request.HasField("section") else {}
    return DEFAULTS | given


def calls_in(request) -> int:
    return int(request.state[CALLS].number_value) if CALLS in request.state else 0


def calls_left(request) -> int:
    return max(0, int(section_of(request)["max_calls"]) - calls_in(request))


class Journal:
    """An effect of the plugin's own: one line for each hook.

    A hook may be repeated with the same id when its answer was lost, so that the effect has to look for the id first.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._path = os.environ.get("PLUGIN_JOURNAL", "")

    def record(self, hook_id: str) -> None:
        if self._path == "":
            return
        with self._lock:
            file = Path(self._path)
            before = file.read_text().splitlines() if file.exists() else []
            if hook_id not in before:
                with file.open("a") as lines:
                    lines.write(f"{hook_id}\n")


class Plugin(services.PluginServiceServicer):
    def __init__(self):
        self._journal = Journal()

    def DescribePlugins(self, request, context):
        return messages.DescribePluginsResponse(plugins=[DESCRIPTOR])

    def RunHook(self, request, context):
        require_version(request, context)
        self._journal.record(request.hook_id)
        answer = messages.RunHookResponse()
        if request.phase == messages.HOOK_PHASE_RUN_START:
            seconds = int(section_of(request)["time_limit_seconds"])
            answer.actions.add(name="time_limit", delay=Duration(seconds=seconds))
        elif request.phase == messages.HOOK_PHASE_BEFORE_INFERENCE:
            answer.transform.instructions = f"You may make {calls_left(request)} more calls."
        elif request.phase == messages.HOOK_PHASE_TOOL_GATE:
            if calls_left(request) == 0:
                answer.deny.reason = "the run has made as many calls as it may"
            else:
                answer.patches.add(key=CALLS, value=Value(number_value=1))
        elif request.phase == messages.HOOK_PHASE_ACTION:
            answer.stop.reason = "its time is over"
        return answer

    def ExecutePluginTool(self, request, context):
        require_version(request, context)
        if request.name != "remaining":
            context.abort(grpc.StatusCode.NOT_FOUND, f"unknown tool {request.name}")
        return messages.ExecutePluginToolResponse(content=str(calls_left(request)))


def require_version(request, context) -> None:
    if request.plugin_version != VERSION:
        context.abort(
            grpc.StatusCode.FAILED_PRECONDITION,
            f"this server has version {VERSION}, not {request.plugin_version}",
        )


class TokenCheck(grpc.ServerInterceptor):
    """Refuses callers that do not send the token."""

    def __init__(self, token: str):
        self._wanted = f"Bearer {token}"

        def refuse(_, context):
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "missing or invalid token")

        self._refused = grpc.unary_unary_rpc_method_handler(refuse)

    def intercept_service(self, continuation, details):
        given = dict(details.invocation_metadata).get("authorization", "")
        if hmac.compare_digest(given.encode(), self._wanted.encode()):
            return continuation(details)
        return self._refused


def main() -> None:
    address = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:50072"
    token = os.environ.get("PLUGIN_TOKEN", "")
    interceptors = [TokenCheck(token)] if token else []
    server = grpc.server(ThreadPoolExecutor(max_workers=16), interceptors=interceptors)
    services.add_PluginServiceServicer_to_server(Plugin(), server)
    port = server.add_insecure_port(address)
    server.start()
    print(f"listening on {address.rpartition(':')[0]}:{port}", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
