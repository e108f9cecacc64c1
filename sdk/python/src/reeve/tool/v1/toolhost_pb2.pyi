import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from reeve.tool.v1 import tool_pb2 as _tool_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ToolhostCallState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOLHOST_CALL_STATE_UNSPECIFIED: _ClassVar[ToolhostCallState]
    TOOLHOST_CALL_STATE_RUNNING: _ClassVar[ToolhostCallState]
    TOOLHOST_CALL_STATE_ABSENT: _ClassVar[ToolhostCallState]
TOOLHOST_CALL_STATE_UNSPECIFIED: ToolhostCallState
TOOLHOST_CALL_STATE_RUNNING: ToolhostCallState
TOOLHOST_CALL_STATE_ABSENT: ToolhostCallState

class ToolhostPresence(_message.Message):
    __slots__ = ("host", "pool", "slots", "busy", "draining", "since", "calls", "isolation", "warm_sandboxes", "spare_sandboxes", "workspaces")
    HOST_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    BUSY_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    ISOLATION_FIELD_NUMBER: _ClassVar[int]
    WARM_SANDBOXES_FIELD_NUMBER: _ClassVar[int]
    SPARE_SANDBOXES_FIELD_NUMBER: _ClassVar[int]
    WORKSPACES_FIELD_NUMBER: _ClassVar[int]
    host: str
    pool: str
    slots: int
    busy: int
    draining: bool
    since: _timestamp_pb2.Timestamp
    calls: _containers.RepeatedCompositeFieldContainer[HostedCall]
    isolation: str
    warm_sandboxes: int
    spare_sandboxes: int
    workspaces: int
    def __init__(self, host: _Optional[str] = ..., pool: _Optional[str] = ..., slots: _Optional[int] = ..., busy: _Optional[int] = ..., draining: _Optional[bool] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., calls: _Optional[_Iterable[_Union[HostedCall, _Mapping]]] = ..., isolation: _Optional[str] = ..., warm_sandboxes: _Optional[int] = ..., spare_sandboxes: _Optional[int] = ..., workspaces: _Optional[int] = ...) -> None: ...

class HostedCall(_message.Message):
    __slots__ = ("tenant", "run_id", "call_id")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    run_id: str
    call_id: str
    def __init__(self, tenant: _Optional[str] = ..., run_id: _Optional[str] = ..., call_id: _Optional[str] = ...) -> None: ...

class ToolhostProbe(_message.Message):
    __slots__ = ("tenant", "run_id", "call_id")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    run_id: str
    call_id: str
    def __init__(self, tenant: _Optional[str] = ..., run_id: _Optional[str] = ..., call_id: _Optional[str] = ...) -> None: ...

class ToolhostProbeReply(_message.Message):
    __slots__ = ("call",)
    CALL_FIELD_NUMBER: _ClassVar[int]
    call: ToolhostCallState
    def __init__(self, call: _Optional[_Union[ToolhostCallState, str]] = ...) -> None: ...

class ForwardedToolCall(_message.Message):
    __slots__ = ("request", "hops")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    FROM_FIELD_NUMBER: _ClassVar[int]
    HOPS_FIELD_NUMBER: _ClassVar[int]
    request: _tool_pb2.ToolCallRequest
    hops: int
    def __init__(self, request: _Optional[_Union[_tool_pb2.ToolCallRequest, _Mapping]] = ..., hops: _Optional[int] = ..., **kwargs) -> None: ...
