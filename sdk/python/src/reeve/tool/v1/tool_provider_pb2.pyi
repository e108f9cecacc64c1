import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DescribeToolsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeToolsResponse(_message.Message):
    __slots__ = ("tools",)
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[ProvidedTool]
    def __init__(self, tools: _Optional[_Iterable[_Union[ProvidedTool, _Mapping]]] = ...) -> None: ...

class ProvidedTool(_message.Message):
    __slots__ = ("name", "description", "input_schema", "permission_class", "idempotent", "parallel_safe", "exclusive_lock", "title", "output_schema", "cost_hint")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_CLASS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENT_FIELD_NUMBER: _ClassVar[int]
    PARALLEL_SAFE_FIELD_NUMBER: _ClassVar[int]
    EXCLUSIVE_LOCK_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    COST_HINT_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    input_schema: _struct_pb2.Struct
    permission_class: str
    idempotent: bool
    parallel_safe: bool
    exclusive_lock: str
    title: str
    output_schema: _struct_pb2.Struct
    cost_hint: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., input_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., permission_class: _Optional[str] = ..., idempotent: _Optional[bool] = ..., parallel_safe: _Optional[bool] = ..., exclusive_lock: _Optional[str] = ..., title: _Optional[str] = ..., output_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., cost_hint: _Optional[str] = ...) -> None: ...

class ExecuteToolRequest(_message.Message):
    __slots__ = ("call_id", "name", "arguments", "tenant", "run_id", "traceparent", "time_limit")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    TIME_LIMIT_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    name: str
    arguments: _struct_pb2.Struct
    tenant: str
    run_id: str
    traceparent: str
    time_limit: _duration_pb2.Duration
    def __init__(self, call_id: _Optional[str] = ..., name: _Optional[str] = ..., arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., tenant: _Optional[str] = ..., run_id: _Optional[str] = ..., traceparent: _Optional[str] = ..., time_limit: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ExecuteToolResponse(_message.Message):
    __slots__ = ("progress", "result")
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    progress: ProvidedProgress
    result: ProvidedResult
    def __init__(self, progress: _Optional[_Union[ProvidedProgress, _Mapping]] = ..., result: _Optional[_Union[ProvidedResult, _Mapping]] = ...) -> None: ...

class ProvidedProgress(_message.Message):
    __slots__ = ("progress", "total", "message")
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    progress: float
    total: float
    message: str
    def __init__(self, progress: _Optional[float] = ..., total: _Optional[float] = ..., message: _Optional[str] = ...) -> None: ...

class ProvidedResult(_message.Message):
    __slots__ = ("content", "is_error", "structured", "files")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    content: str
    is_error: bool
    structured: _struct_pb2.Struct
    files: _containers.RepeatedCompositeFieldContainer[ProvidedFile]
    def __init__(self, content: _Optional[str] = ..., is_error: _Optional[bool] = ..., structured: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., files: _Optional[_Iterable[_Union[ProvidedFile, _Mapping]]] = ...) -> None: ...

class ProvidedFile(_message.Message):
    __slots__ = ("media_type", "content")
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    media_type: str
    content: bytes
    def __init__(self, media_type: _Optional[str] = ..., content: _Optional[bytes] = ...) -> None: ...
