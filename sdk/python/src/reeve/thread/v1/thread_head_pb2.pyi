import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ThreadHead(_message.Message):
    __slots__ = ("version", "sequence", "deleted", "title", "created_at", "updated_at", "open_turns", "ended_turns", "history_bytes", "marks")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    OPEN_TURNS_FIELD_NUMBER: _ClassVar[int]
    ENDED_TURNS_FIELD_NUMBER: _ClassVar[int]
    HISTORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    MARKS_FIELD_NUMBER: _ClassVar[int]
    version: int
    sequence: int
    deleted: bool
    title: str
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    open_turns: _containers.RepeatedCompositeFieldContainer[OpenTurn]
    ended_turns: int
    history_bytes: int
    marks: _containers.RepeatedCompositeFieldContainer[HistoryMark]
    def __init__(self, version: _Optional[int] = ..., sequence: _Optional[int] = ..., deleted: _Optional[bool] = ..., title: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., open_turns: _Optional[_Iterable[_Union[OpenTurn, _Mapping]]] = ..., ended_turns: _Optional[int] = ..., history_bytes: _Optional[int] = ..., marks: _Optional[_Iterable[_Union[HistoryMark, _Mapping]]] = ...) -> None: ...

class OpenTurn(_message.Message):
    __slots__ = ("run_id", "request_hash", "queued_at", "interrupts", "started", "before")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_HASH_FIELD_NUMBER: _ClassVar[int]
    QUEUED_AT_FIELD_NUMBER: _ClassVar[int]
    INTERRUPTS_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    request_hash: bytes
    queued_at: _timestamp_pb2.Timestamp
    interrupts: bool
    started: bool
    before: LogPosition
    def __init__(self, run_id: _Optional[str] = ..., request_hash: _Optional[bytes] = ..., queued_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., interrupts: _Optional[bool] = ..., started: _Optional[bool] = ..., before: _Optional[_Union[LogPosition, _Mapping]] = ...) -> None: ...

class HistoryMark(_message.Message):
    __slots__ = ("before", "bytes_before")
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    BYTES_BEFORE_FIELD_NUMBER: _ClassVar[int]
    before: LogPosition
    bytes_before: int
    def __init__(self, before: _Optional[_Union[LogPosition, _Mapping]] = ..., bytes_before: _Optional[int] = ...) -> None: ...

class LogPosition(_message.Message):
    __slots__ = ("sequence", "revision")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    revision: int
    def __init__(self, sequence: _Optional[int] = ..., revision: _Optional[int] = ...) -> None: ...
