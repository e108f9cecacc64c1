"""A tool provider in Python with two tools: `statistics`, and `countdown`, which reports progress and can be cancelled.

The first argument is the address to listen on. If PROVIDER_TOKEN is set, callers must send it as a bearer token.
"""

import hmac
import os
import statistics
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Struct

from reeve.tool.v1 import tool_provider_pb2 as messages
from reeve.tool.v1 import tool_provider_pb2_grpc as services


def struct(value: dict) -> Struct:
    return ParseDict(value, Struct())


def result(**fields) -> messages.ExecuteToolResponse:
    return messages.ExecuteToolResponse(result=messages.ProvidedResult(**fields))


def progress(done: int, total: int, message: str) -> messages.ExecuteToolResponse:
    report = messages.ProvidedProgress(progress=done, total=total, message=message)
    return messages.ExecuteToolResponse(progress=report)


def compute_statistics(arguments: dict, context: grpc.ServicerContext):
    numbers = arguments["numbers"]
    try:
        found = {
            "count": len(numbers),
            "mean": statistics.fmean(numbers),
            "median": statistics.median(numbers),
            "deviation": statistics.stdev(numbers),
        }
    except statistics.StatisticsError as error:
        # A failure of the tool is a result that the model reads, not an RPC error.
        yield result(content=str(error), is_error=True)
        return
    yield result(structured=struct(found))


def count_down(arguments: dict, context: grpc.ServicerContext):
    total = int(arguments["from"])
    cancelled = threading.Event()
    context.add_callback(cancelled.set)
    for done in range(1, total + 1):
        if cancelled.wait(timeout=arguments.get("pause_seconds", 1)):
            return
        yield progress(done, total, f"{total - done} to go")
    yield result(content="lift-off")


NUMBER = {"type": "number"}
TOOLS = {
    "statistics": (
        compute_statistics,
        messages.ProvidedTool(
            name="statistics",
            description="Returns the mean, median, and standard deviation of at least two numbers.",
            input_schema=struct(
                {
                    "type": "object",
                    "properties": {"numbers": {"type": "array", "items": NUMBER}},
                    "required": ["numbers"],
                    "additionalProperties": False,
                }
            ),
            permission_class="safe",
            idempotent=True,
            # A workflow has a node for each tool. With these, an editor shows it by its title, and checks what its output is used for.
            title="Statistics of numbers",
            output_schema=struct(
                {
                    "type": "object",
                    "properties": {"count": NUMBER, "mean": NUMBER, "median": NUMBER, "deviation": NUMBER},
                    "required": ["count", "mean", "median", "deviation"],
                }
            ),
        ),
    ),
    "countdown": (
        count_down,
        messages.ProvidedTool(
            name="countdown",
            description="Counts down to zero, and reports its progress.",
            input_schema=struct(
                {
                    "type": "object",
                    "properties": {
                        "from": {"type": "integer", "minimum": 1, "maximum": 1000},
                        "pause_seconds": NUMBER,
                    },
                    "required": ["from"],
                    "additionalProperties": False,
                }
            ),
            permission_class="safe",
        ),
    ),
}


class Provider(services.ToolProviderServiceServicer):
    def DescribeTools(self, request, context):
        return messages.DescribeToolsResponse(tools=[tool for _, tool in TOOLS.values()])

    def ExecuteTool(self, request, context):
        if request.name not in TOOLS:
            context.abort(grpc.StatusCode.NOT_FOUND, f"unknown tool {request.name}")
        execute, _ = TOOLS[request.name]
        yield from execute(MessageToDict(request.arguments), context)


class TokenCheck(grpc.ServerInterceptor):
    """Refuses callers that do not send the token."""

    def __init__(self, token: str):
        self._wanted = f"Bearer {token}"

        def refuse(_, context):
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "missing or invalid token")

        self._refused = {
            "DescribeTools": grpc.unary_unary_rpc_method_handler(refuse),
            "ExecuteTool": grpc.unary_stream_rpc_method_handler(refuse),
        }

    def intercept_service(self, continuation, details):
        given = dict(details.invocation_metadata).get("authorization", "")
        if hmac.compare_digest(given.encode(), self._wanted.encode()):
            return continuation(details)
        return self._refused.get(details.method.rpartition("/")[2])


def main() -> None:
    address = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:50071"
    token = os.environ.get("PROVIDER_TOKEN", "")
    interceptors = [TokenCheck(token)] if token else []
    server = grpc.server(ThreadPoolExecutor(max_workers=16), interceptors=interceptors)
    services.add_ToolProviderServiceServicer_to_server(Provider(), server)
    port = server.add_insecure_port(address)
    server.start()
    print(f"listening on {address.rpartition(':')[0]}:{port}", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
