import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

import grpc
from google.rpc import error_details_pb2 as details
from google.rpc import status_pb2

_Answer = TypeVar("_Answer")

# Status codes of broken connections. A response of a Reeve server always has details.
_LOST = {
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.UNKNOWN,
}


@dataclass(frozen=True)
class Violation:
    """A field of a request that violates the contract."""

    field: str
    description: str


class ReeveError(Exception):
    """The error of a request. Switch on `reason`, or on `code` if the reason is empty; never on the message.

    `code` is the gRPC status code. `reason` is a value of `reeve.error.v1.ErrorReason` without its prefix, for example
    RUN_NOT_FOUND; CONNECTION_LOST if no server could be reached in time; or empty if the response is not from a Reeve
    server. `retry_after` is the delay before the next attempt in seconds, or None if the server did not request one.
    """

    def __init__(self, code: grpc.StatusCode, message: str, status: status_pb2.Status | None = None):
        super().__init__(message)
        info, request, retry = details.ErrorInfo(), details.BadRequest(), details.RetryInfo()
        found = [each.Unpack(into) for each in (status.details if status else ()) for into in (info, request, retry)]
        is_lost = not any(found) and code in _LOST
        self.code = grpc.StatusCode.UNAVAILABLE if is_lost else code
        self.reason = "CONNECTION_LOST" if is_lost else info.reason
        self.message = message
        self.violations = [Violation(each.field, each.description) for each in request.field_violations]
        self.metadata = dict(info.metadata)
        self.retry_after = retry.retry_delay.ToTimedelta().total_seconds() if retry.HasField("retry_delay") else None

    @property
    def is_transient(self) -> bool:
        """Whether the same request may succeed later, or through another server."""
        return self.code is grpc.StatusCode.UNAVAILABLE


def error_from(error: grpc.aio.AioRpcError) -> ReeveError:
    """Converts the error of a gRPC call."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            return ReeveError(error.code(), error.details() or "", status_pb2.Status.FromString(value))
    return ReeveError(error.code(), error.details() or "")


async def answered(call: grpc.aio.Call, awaited: Awaitable[_Answer]) -> _Answer:
    """Returns the result of a call. Raises a ReeveError, even if another stream closed the channel because it was silent."""
    try:
        return await awaited
    except grpc.aio.AioRpcError as error:
        raise error_from(error) from error
    except asyncio.CancelledError:
        task = asyncio.current_task()
        # A cancellation of the task itself is unrelated to the connection, and is passed on.
        if not call.cancelled() or (task is not None and task.cancelling()):
            raise
        raise lost("the connection was closed") from None


def lost(message: str) -> ReeveError:
    """Returns the error of a connection that counts as lost although the network reported no error."""
    return ReeveError(grpc.StatusCode.UNAVAILABLE, message)
