import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

import grpc
from google.rpc import error_details_pb2 as details
from google.rpc import status_pb2

_Answer = TypeVar("_Answer")

# What a connection that broke is called. An answer of the server has details and is none of these.
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
    """A field of a request that breaks the contract."""

    field: str
    description: str


class ReeveError(Exception):
    """Why something did not succeed. Switch on `reason`, or on `code` where it is empty; never on the message.

    `code` is the gRPC status code. `reason` is a name of `reeve.error.v1.ErrorReason` without its prefix, as RUN_NOT_FOUND;
    CONNECTION_LOST when no server could be reached in time; empty when what answered is no Reeve. `retry_after` is how many
    seconds to wait before another attempt, when the server says so.
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
        """Whether the same may succeed at another time, or by another way."""
        return self.code is grpc.StatusCode.UNAVAILABLE


def error_from(error: grpc.aio.AioRpcError) -> ReeveError:
    """What a server, or the way to it, gave."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            return ReeveError(error.code(), error.details() or "", status_pb2.Status.FromString(value))
    return ReeveError(error.code(), error.details() or "")


async def answered(call: grpc.aio.Call, awaited: Awaitable[_Answer]) -> _Answer:
    """What a call gives. Raises a ReeveError, also when the channel was closed because another call found it silent."""
    try:
        return await awaited
    except grpc.aio.AioRpcError as error:
        raise error_from(error) from error
    except asyncio.CancelledError:
        task = asyncio.current_task()
        # The task itself may be what is cancelled; that is no matter of the connection.
        if not call.cancelled() or (task is not None and task.cancelling()):
            raise
        raise lost("the connection was closed") from None


def lost(message: str) -> ReeveError:
    """A connection that is lost although nothing said so."""
    return ReeveError(grpc.StatusCode.UNAVAILABLE, message)
