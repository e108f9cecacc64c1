import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TaskPushes(_message.Message):
    __slots__ = ("tenant", "run_id", "agent_id", "receivers", "created_at")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    RECEIVERS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    run_id: str
    agent_id: str
    receivers: _containers.RepeatedCompositeFieldContainer[PushReceiver]
    created_at: _timestamp_pb2.Timestamp
    def __init__(self, tenant: _Optional[str] = ..., run_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., receivers: _Optional[_Iterable[_Union[PushReceiver, _Mapping]]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class PushReceiver(_message.Message):
    __slots__ = ("config_id", "url", "token", "scheme", "credentials", "settled", "attempts", "not_before", "due", "due_sequence", "claimed_until")
    CONFIG_ID_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    SCHEME_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    SETTLED_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    NOT_BEFORE_FIELD_NUMBER: _ClassVar[int]
    DUE_FIELD_NUMBER: _ClassVar[int]
    DUE_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    CLAIMED_UNTIL_FIELD_NUMBER: _ClassVar[int]
    config_id: str
    url: str
    token: str
    scheme: str
    credentials: str
    settled: str
    attempts: int
    not_before: _timestamp_pb2.Timestamp
    due: str
    due_sequence: int
    claimed_until: _timestamp_pb2.Timestamp
    def __init__(self, config_id: _Optional[str] = ..., url: _Optional[str] = ..., token: _Optional[str] = ..., scheme: _Optional[str] = ..., credentials: _Optional[str] = ..., settled: _Optional[str] = ..., attempts: _Optional[int] = ..., not_before: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., due: _Optional[str] = ..., due_sequence: _Optional[int] = ..., claimed_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
