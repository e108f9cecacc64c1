from reeve.content.v1 import content_pb2 as _content_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class HistoryMessage(_message.Message):
    __slots__ = ("user", "assistant", "tool_result")
    USER_FIELD_NUMBER: _ClassVar[int]
    ASSISTANT_FIELD_NUMBER: _ClassVar[int]
    TOOL_RESULT_FIELD_NUMBER: _ClassVar[int]
    user: HistoryInput
    assistant: HistoryTurn
    tool_result: HistoryResult
    def __init__(self, user: _Optional[_Union[HistoryInput, _Mapping]] = ..., assistant: _Optional[_Union[HistoryTurn, _Mapping]] = ..., tool_result: _Optional[_Union[HistoryResult, _Mapping]] = ...) -> None: ...

class HistoryInput(_message.Message):
    __slots__ = ("text", "parts")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    text: str
    parts: _containers.RepeatedCompositeFieldContainer[_content_pb2.ContentPart]
    def __init__(self, text: _Optional[str] = ..., parts: _Optional[_Iterable[_Union[_content_pb2.ContentPart, _Mapping]]] = ...) -> None: ...

class HistoryTurn(_message.Message):
    __slots__ = ("text", "message_json", "format", "calls", "advisory")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_JSON_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    ADVISORY_FIELD_NUMBER: _ClassVar[int]
    text: str
    message_json: bytes
    format: str
    calls: _containers.RepeatedCompositeFieldContainer[HistoryCall]
    advisory: str
    def __init__(self, text: _Optional[str] = ..., message_json: _Optional[bytes] = ..., format: _Optional[str] = ..., calls: _Optional[_Iterable[_Union[HistoryCall, _Mapping]]] = ..., advisory: _Optional[str] = ...) -> None: ...

class HistoryCall(_message.Message):
    __slots__ = ("provider_call_id", "name", "arguments_text")
    PROVIDER_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_TEXT_FIELD_NUMBER: _ClassVar[int]
    provider_call_id: str
    name: str
    arguments_text: str
    def __init__(self, provider_call_id: _Optional[str] = ..., name: _Optional[str] = ..., arguments_text: _Optional[str] = ...) -> None: ...

class HistoryResult(_message.Message):
    __slots__ = ("provider_call_id", "name", "content", "is_error", "files")
    PROVIDER_CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    provider_call_id: str
    name: str
    content: str
    is_error: bool
    files: _containers.RepeatedCompositeFieldContainer[_content_pb2.FilePart]
    def __init__(self, provider_call_id: _Optional[str] = ..., name: _Optional[str] = ..., content: _Optional[str] = ..., is_error: _Optional[bool] = ..., files: _Optional[_Iterable[_Union[_content_pb2.FilePart, _Mapping]]] = ...) -> None: ...
