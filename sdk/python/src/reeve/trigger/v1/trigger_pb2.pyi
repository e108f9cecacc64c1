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

class OnOverlap(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ON_OVERLAP_UNSPECIFIED: _ClassVar[OnOverlap]
    ON_OVERLAP_SKIP: _ClassVar[OnOverlap]
    ON_OVERLAP_ALLOW: _ClassVar[OnOverlap]

class OnMissed(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ON_MISSED_UNSPECIFIED: _ClassVar[OnMissed]
    ON_MISSED_SKIP: _ClassVar[OnMissed]
    ON_MISSED_ONCE: _ClassVar[OnMissed]
    ON_MISSED_ALL: _ClassVar[OnMissed]

class TriggerState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TRIGGER_STATE_UNSPECIFIED: _ClassVar[TriggerState]
    TRIGGER_STATE_ACTIVE: _ClassVar[TriggerState]
    TRIGGER_STATE_PAUSED: _ClassVar[TriggerState]
    TRIGGER_STATE_STOPPED: _ClassVar[TriggerState]

class FiringCause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FIRING_CAUSE_UNSPECIFIED: _ClassVar[FiringCause]
    FIRING_CAUSE_SCHEDULE: _ClassVar[FiringCause]
    FIRING_CAUSE_WEBHOOK: _ClassVar[FiringCause]
    FIRING_CAUSE_REQUEST: _ClassVar[FiringCause]

class FiringOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FIRING_OUTCOME_UNSPECIFIED: _ClassVar[FiringOutcome]
    FIRING_OUTCOME_STARTING: _ClassVar[FiringOutcome]
    FIRING_OUTCOME_STARTED: _ClassVar[FiringOutcome]
    FIRING_OUTCOME_SKIPPED: _ClassVar[FiringOutcome]
    FIRING_OUTCOME_MISSED: _ClassVar[FiringOutcome]
    FIRING_OUTCOME_FAILED: _ClassVar[FiringOutcome]
ON_OVERLAP_UNSPECIFIED: OnOverlap
ON_OVERLAP_SKIP: OnOverlap
ON_OVERLAP_ALLOW: OnOverlap
ON_MISSED_UNSPECIFIED: OnMissed
ON_MISSED_SKIP: OnMissed
ON_MISSED_ONCE: OnMissed
ON_MISSED_ALL: OnMissed
TRIGGER_STATE_UNSPECIFIED: TriggerState
TRIGGER_STATE_ACTIVE: TriggerState
TRIGGER_STATE_PAUSED: TriggerState
TRIGGER_STATE_STOPPED: TriggerState
FIRING_CAUSE_UNSPECIFIED: FiringCause
FIRING_CAUSE_SCHEDULE: FiringCause
FIRING_CAUSE_WEBHOOK: FiringCause
FIRING_CAUSE_REQUEST: FiringCause
FIRING_OUTCOME_UNSPECIFIED: FiringOutcome
FIRING_OUTCOME_STARTING: FiringOutcome
FIRING_OUTCOME_STARTED: FiringOutcome
FIRING_OUTCOME_SKIPPED: FiringOutcome
FIRING_OUTCOME_MISSED: FiringOutcome
FIRING_OUTCOME_FAILED: FiringOutcome

class TriggerSpec(_message.Message):
    __slots__ = ("trigger_id", "agent_id", "input", "labels", "on_overlap", "schedule", "webhook")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    TRIGGER_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    ON_OVERLAP_FIELD_NUMBER: _ClassVar[int]
    SCHEDULE_FIELD_NUMBER: _ClassVar[int]
    WEBHOOK_FIELD_NUMBER: _ClassVar[int]
    trigger_id: str
    agent_id: str
    input: str
    labels: _containers.ScalarMap[str, str]
    on_overlap: OnOverlap
    schedule: Schedule
    webhook: Webhook
    def __init__(self, trigger_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., input: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., on_overlap: _Optional[_Union[OnOverlap, str]] = ..., schedule: _Optional[_Union[Schedule, _Mapping]] = ..., webhook: _Optional[_Union[Webhook, _Mapping]] = ...) -> None: ...

class Schedule(_message.Message):
    __slots__ = ("cron", "time_zone", "on_missed", "max_missed", "jitter")
    CRON_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_FIELD_NUMBER: _ClassVar[int]
    ON_MISSED_FIELD_NUMBER: _ClassVar[int]
    MAX_MISSED_FIELD_NUMBER: _ClassVar[int]
    JITTER_FIELD_NUMBER: _ClassVar[int]
    cron: str
    time_zone: str
    on_missed: OnMissed
    max_missed: int
    jitter: _duration_pb2.Duration
    def __init__(self, cron: _Optional[str] = ..., time_zone: _Optional[str] = ..., on_missed: _Optional[_Union[OnMissed, str]] = ..., max_missed: _Optional[int] = ..., jitter: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class Webhook(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Trigger(_message.Message):
    __slots__ = ("spec", "revision", "created_at", "updated_at", "owner", "state", "stop_reason", "next_firing_at", "last_firing", "hook_path")
    SPEC_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STOP_REASON_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIRING_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_FIRING_FIELD_NUMBER: _ClassVar[int]
    HOOK_PATH_FIELD_NUMBER: _ClassVar[int]
    spec: TriggerSpec
    revision: int
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    owner: TriggerOwner
    state: TriggerState
    stop_reason: str
    next_firing_at: _timestamp_pb2.Timestamp
    last_firing: Firing
    hook_path: str
    def __init__(self, spec: _Optional[_Union[TriggerSpec, _Mapping]] = ..., revision: _Optional[int] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., owner: _Optional[_Union[TriggerOwner, _Mapping]] = ..., state: _Optional[_Union[TriggerState, str]] = ..., stop_reason: _Optional[str] = ..., next_firing_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_firing: _Optional[_Union[Firing, _Mapping]] = ..., hook_path: _Optional[str] = ...) -> None: ...

class TriggerOwner(_message.Message):
    __slots__ = ("subject", "credential_kind", "roles", "confirmed_at")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_KIND_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    CONFIRMED_AT_FIELD_NUMBER: _ClassVar[int]
    subject: str
    credential_kind: str
    roles: _containers.RepeatedScalarFieldContainer[_role_pb2.Role]
    confirmed_at: _timestamp_pb2.Timestamp
    def __init__(self, subject: _Optional[str] = ..., credential_kind: _Optional[str] = ..., roles: _Optional[_Iterable[_Union[_role_pb2.Role, str]]] = ..., confirmed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Firing(_message.Message):
    __slots__ = ("firing_id", "cause", "scheduled_at", "fired_at", "outcome", "run_id", "problem", "missed")
    FIRING_ID_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    SCHEDULED_AT_FIELD_NUMBER: _ClassVar[int]
    FIRED_AT_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    MISSED_FIELD_NUMBER: _ClassVar[int]
    firing_id: str
    cause: FiringCause
    scheduled_at: _timestamp_pb2.Timestamp
    fired_at: _timestamp_pb2.Timestamp
    outcome: FiringOutcome
    run_id: str
    problem: str
    missed: int
    def __init__(self, firing_id: _Optional[str] = ..., cause: _Optional[_Union[FiringCause, str]] = ..., scheduled_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., fired_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., outcome: _Optional[_Union[FiringOutcome, str]] = ..., run_id: _Optional[str] = ..., problem: _Optional[str] = ..., missed: _Optional[int] = ...) -> None: ...

class TriggerRecord(_message.Message):
    __slots__ = ("tenant", "trigger", "uid", "secrets", "pending", "owner_missing_since")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    UID_FIELD_NUMBER: _ClassVar[int]
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    OWNER_MISSING_SINCE_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    trigger: Trigger
    uid: str
    secrets: _containers.RepeatedCompositeFieldContainer[WebhookSecret]
    pending: _containers.RepeatedCompositeFieldContainer[PendingFiring]
    owner_missing_since: _timestamp_pb2.Timestamp
    def __init__(self, tenant: _Optional[str] = ..., trigger: _Optional[_Union[Trigger, _Mapping]] = ..., uid: _Optional[str] = ..., secrets: _Optional[_Iterable[_Union[WebhookSecret, _Mapping]]] = ..., pending: _Optional[_Iterable[_Union[PendingFiring, _Mapping]]] = ..., owner_missing_since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class WebhookSecret(_message.Message):
    __slots__ = ("key", "expires_at")
    KEY_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    key: bytes
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, key: _Optional[bytes] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class PendingFiring(_message.Message):
    __slots__ = ("firing", "request_id", "agent_id", "input", "labels")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    FIRING_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    firing: Firing
    request_id: str
    agent_id: str
    input: str
    labels: _containers.ScalarMap[str, str]
    def __init__(self, firing: _Optional[_Union[Firing, _Mapping]] = ..., request_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., input: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ...) -> None: ...

class TriggerFirings(_message.Message):
    __slots__ = ("uid", "firings")
    UID_FIELD_NUMBER: _ClassVar[int]
    FIRINGS_FIELD_NUMBER: _ClassVar[int]
    uid: str
    firings: _containers.RepeatedCompositeFieldContainer[Firing]
    def __init__(self, uid: _Optional[str] = ..., firings: _Optional[_Iterable[_Union[Firing, _Mapping]]] = ...) -> None: ...
