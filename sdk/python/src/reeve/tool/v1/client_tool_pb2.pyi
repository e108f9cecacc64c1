import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from reeve.tool.v1 import tool_pb2 as _tool_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ClientTool(_message.Message):
    __slots__ = ("name", "description", "input_schema", "permission_class", "parallel_safe", "timeout", "answered_by_person", "output_schema")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_CLASS_FIELD_NUMBER: _ClassVar[int]
    PARALLEL_SAFE_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_BY_PERSON_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    input_schema: _struct_pb2.Struct
    permission_class: str
    parallel_safe: bool
    timeout: _duration_pb2.Duration
    answered_by_person: bool
    output_schema: _struct_pb2.Struct
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., input_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., permission_class: _Optional[str] = ..., parallel_safe: _Optional[bool] = ..., timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., answered_by_person: _Optional[bool] = ..., output_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class ClientManifest(_message.Message):
    __slots__ = ("client_id", "tools")
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    client_id: str
    tools: _containers.RepeatedCompositeFieldContainer[ClientTool]
    def __init__(self, client_id: _Optional[str] = ..., tools: _Optional[_Iterable[_Union[ClientTool, _Mapping]]] = ...) -> None: ...

class ToolOffer(_message.Message):
    __slots__ = ("tenant", "scope", "client_id", "subject", "stream_id", "renewed_at", "tools", "generation")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    STREAM_ID_FIELD_NUMBER: _ClassVar[int]
    RENEWED_AT_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    scope: str
    client_id: str
    subject: str
    stream_id: str
    renewed_at: _timestamp_pb2.Timestamp
    tools: _containers.RepeatedCompositeFieldContainer[_tool_pb2.ToolDescriptor]
    generation: int
    def __init__(self, tenant: _Optional[str] = ..., scope: _Optional[str] = ..., client_id: _Optional[str] = ..., subject: _Optional[str] = ..., stream_id: _Optional[str] = ..., renewed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., tools: _Optional[_Iterable[_Union[_tool_pb2.ToolDescriptor, _Mapping]]] = ..., generation: _Optional[int] = ...) -> None: ...
