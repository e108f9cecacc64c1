import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from reeve.access.v1 import role_pb2 as _role_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AuditPhase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AUDIT_PHASE_UNSPECIFIED: _ClassVar[AuditPhase]
    AUDIT_PHASE_BEGIN: _ClassVar[AuditPhase]
    AUDIT_PHASE_END: _ClassVar[AuditPhase]

class AuditOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AUDIT_OUTCOME_UNSPECIFIED: _ClassVar[AuditOutcome]
    AUDIT_OUTCOME_OK: _ClassVar[AuditOutcome]
    AUDIT_OUTCOME_FAILED: _ClassVar[AuditOutcome]
AUDIT_PHASE_UNSPECIFIED: AuditPhase
AUDIT_PHASE_BEGIN: AuditPhase
AUDIT_PHASE_END: AuditPhase
AUDIT_OUTCOME_UNSPECIFIED: AuditOutcome
AUDIT_OUTCOME_OK: AuditOutcome
AUDIT_OUTCOME_FAILED: AuditOutcome

class AuditEvent(_message.Message):
    __slots__ = ("event_id", "time", "tenant", "subject", "roles", "credential", "client_address", "user_agent", "method", "action", "resources", "code", "reason", "request_id", "trace_id", "phase", "duration", "count", "choices", "lost")
    class ChoicesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: _Optional[bool] = ...) -> None: ...
    EVENT_ID_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    USER_AGENT_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    CHOICES_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    event_id: str
    time: _timestamp_pb2.Timestamp
    tenant: str
    subject: str
    roles: _containers.RepeatedScalarFieldContainer[_role_pb2.Role]
    credential: AuditCredential
    client_address: str
    user_agent: str
    method: str
    action: str
    resources: _containers.RepeatedCompositeFieldContainer[AuditResource]
    code: str
    reason: str
    request_id: str
    trace_id: str
    phase: AuditPhase
    duration: _duration_pb2.Duration
    count: int
    choices: _containers.ScalarMap[str, bool]
    lost: int
    def __init__(self, event_id: _Optional[str] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., tenant: _Optional[str] = ..., subject: _Optional[str] = ..., roles: _Optional[_Iterable[_Union[_role_pb2.Role, str]]] = ..., credential: _Optional[_Union[AuditCredential, _Mapping]] = ..., client_address: _Optional[str] = ..., user_agent: _Optional[str] = ..., method: _Optional[str] = ..., action: _Optional[str] = ..., resources: _Optional[_Iterable[_Union[AuditResource, _Mapping]]] = ..., code: _Optional[str] = ..., reason: _Optional[str] = ..., request_id: _Optional[str] = ..., trace_id: _Optional[str] = ..., phase: _Optional[_Union[AuditPhase, str]] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., count: _Optional[int] = ..., choices: _Optional[_Mapping[str, bool]] = ..., lost: _Optional[int] = ...) -> None: ...

class AuditCredential(_message.Message):
    __slots__ = ("kind", "id")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[AuditCredential.Kind]
        KIND_TOKEN: _ClassVar[AuditCredential.Kind]
        KIND_OIDC: _ClassVar[AuditCredential.Kind]
        KIND_DEVELOPMENT: _ClassVar[AuditCredential.Kind]
        KIND_CERTIFICATE: _ClassVar[AuditCredential.Kind]
    KIND_UNSPECIFIED: AuditCredential.Kind
    KIND_TOKEN: AuditCredential.Kind
    KIND_OIDC: AuditCredential.Kind
    KIND_DEVELOPMENT: AuditCredential.Kind
    KIND_CERTIFICATE: AuditCredential.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    kind: AuditCredential.Kind
    id: str
    def __init__(self, kind: _Optional[_Union[AuditCredential.Kind, str]] = ..., id: _Optional[str] = ...) -> None: ...

class AuditResource(_message.Message):
    __slots__ = ("kind", "id")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    kind: str
    id: str
    def __init__(self, kind: _Optional[str] = ..., id: _Optional[str] = ...) -> None: ...

class ListAuditEventsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "start_time", "end_time", "subject", "action", "resource_id", "outcome", "without_tenant", "without_reads")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    RESOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_TENANT_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_READS_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    start_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    subject: str
    action: str
    resource_id: str
    outcome: AuditOutcome
    without_tenant: bool
    without_reads: bool
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., subject: _Optional[str] = ..., action: _Optional[str] = ..., resource_id: _Optional[str] = ..., outcome: _Optional[_Union[AuditOutcome, str]] = ..., without_tenant: _Optional[bool] = ..., without_reads: _Optional[bool] = ...) -> None: ...

class ListAuditEventsResponse(_message.Message):
    __slots__ = ("events", "next_page_token")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[AuditEvent]
    next_page_token: str
    def __init__(self, events: _Optional[_Iterable[_Union[AuditEvent, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
