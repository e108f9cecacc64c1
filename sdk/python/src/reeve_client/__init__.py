"""Client library for Reeve: starts runs, watches them across lost connections, and decides approvals.

The generated protobuf messages are in the package `reeve`, for example `from reeve.run.v1 import run_event_pb2`.
"""

from ._client import Client, connect
from ._errors import ReeveError, Violation
from ._tools import ClientTool, ToolCall, manifest_of
from ._transfer import Download
from ._watch import Watch

__all__ = [
    "Client",
    "ClientTool",
    "Download",
    "ReeveError",
    "ToolCall",
    "Violation",
    "Watch",
    "connect",
    "manifest_of",
]
