import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from reeve.approval.v1 import approval_pb2 as _approval_pb2
from reeve.run.v1 import run_event_pb2 as _run_event_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class NotificationEvent(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NOTIFICATION_EVENT_UNSPECIFIED: _ClassVar[NotificationEvent]
    NOTIFICATION_EVENT_REQUESTED: _ClassVar[NotificationEvent]
    NOTIFICATION_EVENT_RESOLVED: _ClassVar[NotificationEvent]
    NOTIFICATION_EVENT_ESCALATED: _ClassVar[NotificationEvent]
    NOTIFICATION_EVENT_BREAK_GLASS: _ClassVar[NotificationEvent]
    NOTIFICATION_EVENT_RUN_ENDED: _ClassVar[NotificationEvent]
NOTIFICATION_EVENT_UNSPECIFIED: NotificationEvent
NOTIFICATION_EVENT_REQUESTED: NotificationEvent
NOTIFICATION_EVENT_RESOLVED: NotificationEvent
NOTIFICATION_EVENT_ESCALATED: NotificationEvent
NOTIFICATION_EVENT_BREAK_GLASS: NotificationEvent
NOTIFICATION_EVENT_RUN_ENDED: NotificationEvent

class Notification(_message.Message):
    __slots__ = ("notification_id", "receiver", "tenant", "event", "occurred_at", "queued_at", "approval", "arguments", "run")
    NOTIFICATION_ID_FIELD_NUMBER: _ClassVar[int]
    RECEIVER_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    OCCURRED_AT_FIELD_NUMBER: _ClassVar[int]
    QUEUED_AT_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    notification_id: str
    receiver: str
    tenant: str
    event: NotificationEvent
    occurred_at: _timestamp_pb2.Timestamp
    queued_at: _timestamp_pb2.Timestamp
    approval: _approval_pb2.Approval
    arguments: str
    run: EndedRun
    def __init__(self, notification_id: _Optional[str] = ..., receiver: _Optional[str] = ..., tenant: _Optional[str] = ..., event: _Optional[_Union[NotificationEvent, str]] = ..., occurred_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., queued_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., approval: _Optional[_Union[_approval_pb2.Approval, _Mapping]] = ..., arguments: _Optional[str] = ..., run: _Optional[_Union[EndedRun, _Mapping]] = ...) -> None: ...

class EndedRun(_message.Message):
    __slots__ = ("run_id", "agent_id", "thread_id", "started_by", "status", "labels", "error_reason")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    STARTED_BY_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    ERROR_REASON_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    agent_id: str
    thread_id: str
    started_by: str
    status: _run_event_pb2.RunStatus
    labels: _containers.ScalarMap[str, str]
    error_reason: str
    def __init__(self, run_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., thread_id: _Optional[str] = ..., started_by: _Optional[str] = ..., status: _Optional[_Union[_run_event_pb2.RunStatus, str]] = ..., labels: _Optional[_Mapping[str, str]] = ..., error_reason: _Optional[str] = ...) -> None: ...

class ApprovalNotice(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DeadNotification(_message.Message):
    __slots__ = ("notification", "problem", "attempts", "given_up_at")
    NOTIFICATION_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    GIVEN_UP_AT_FIELD_NUMBER: _ClassVar[int]
    notification: Notification
    problem: str
    attempts: int
    given_up_at: _timestamp_pb2.Timestamp
    def __init__(self, notification: _Optional[_Union[Notification, _Mapping]] = ..., problem: _Optional[str] = ..., attempts: _Optional[int] = ..., given_up_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
