import datetime

from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from reeve.tool.v1 import client_tool_pb2 as _client_tool_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OfferToolsRequest(_message.Message):
    __slots__ = ("thread_id", "run_id", "manifest")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    run_id: str
    manifest: _client_tool_pb2.ClientManifest
    def __init__(self, thread_id: _Optional[str] = ..., run_id: _Optional[str] = ..., manifest: _Optional[_Union[_client_tool_pb2.ClientManifest, _Mapping]] = ...) -> None: ...

class OfferToolsResponse(_message.Message):
    __slots__ = ("ready", "call", "closed")
    READY_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    ready: OfferReady
    call: OfferedCall
    closed: ClosedCall
    def __init__(self, ready: _Optional[_Union[OfferReady, _Mapping]] = ..., call: _Optional[_Union[OfferedCall, _Mapping]] = ..., closed: _Optional[_Union[ClosedCall, _Mapping]] = ...) -> None: ...

class OfferReady(_message.Message):
    __slots__ = ("warnings",)
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class OfferedCall(_message.Message):
    __slots__ = ("run_id", "call_id", "name", "arguments", "deadline", "repeated_delivery")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_FIELD_NUMBER: _ClassVar[int]
    REPEATED_DELIVERY_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    call_id: str
    name: str
    arguments: _struct_pb2.Struct
    deadline: _timestamp_pb2.Timestamp
    repeated_delivery: bool
    def __init__(self, run_id: _Optional[str] = ..., call_id: _Optional[str] = ..., name: _Optional[str] = ..., arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., deadline: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., repeated_delivery: _Optional[bool] = ...) -> None: ...

class ClosedCall(_message.Message):
    __slots__ = ("run_id", "call_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    call_id: str
    def __init__(self, run_id: _Optional[str] = ..., call_id: _Optional[str] = ...) -> None: ...

class AnswerToolCallRequest(_message.Message):
    __slots__ = ("run_id", "call_id", "client_id", "text", "structured", "error")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    call_id: str
    client_id: str
    text: str
    structured: _struct_pb2.Struct
    error: str
    def __init__(self, run_id: _Optional[str] = ..., call_id: _Optional[str] = ..., client_id: _Optional[str] = ..., text: _Optional[str] = ..., structured: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., error: _Optional[str] = ...) -> None: ...

class AnswerToolCallResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
