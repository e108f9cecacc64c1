import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from reeve.tool.v1 import tool_pb2 as _tool_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ToolhostPresence(_message.Message):
    __slots__ = ("host", "pool", "slots", "busy", "draining", "since")
    HOST_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    BUSY_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    host: str
    pool: str
    slots: int
    busy: int
    draining: bool
    since: _timestamp_pb2.Timestamp
    def __init__(self, host: _Optional[str] = ..., pool: _Optional[str] = ..., slots: _Optional[int] = ..., busy: _Optional[int] = ..., draining: _Optional[bool] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ToolhostProbe(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ForwardedToolCall(_message.Message):
    __slots__ = ("request", "hops")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    HOPS_FIELD_NUMBER: _ClassVar[int]
    request: _tool_pb2.ToolCallRequest
    hops: int
    def __init__(self, request: _Optional[_Union[_tool_pb2.ToolCallRequest, _Mapping]] = ..., hops: _Optional[int] = ..., **kwargs) -> None: ...
