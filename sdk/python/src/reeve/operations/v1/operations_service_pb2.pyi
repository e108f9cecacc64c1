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

class QueueKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    QUEUE_KIND_UNSPECIFIED: _ClassVar[QueueKind]
    QUEUE_KIND_RUNS: _ClassVar[QueueKind]
    QUEUE_KIND_TOOL_CALLS: _ClassVar[QueueKind]
    QUEUE_KIND_NOTIFICATIONS: _ClassVar[QueueKind]

class CredentialSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CREDENTIAL_SOURCE_UNSPECIFIED: _ClassVar[CredentialSource]
    CREDENTIAL_SOURCE_SETTING: _ClassVar[CredentialSource]
    CREDENTIAL_SOURCE_TOKEN_FILE: _ClassVar[CredentialSource]
    CREDENTIAL_SOURCE_CERTIFICATE: _ClassVar[CredentialSource]
QUEUE_KIND_UNSPECIFIED: QueueKind
QUEUE_KIND_RUNS: QueueKind
QUEUE_KIND_TOOL_CALLS: QueueKind
QUEUE_KIND_NOTIFICATIONS: QueueKind
CREDENTIAL_SOURCE_UNSPECIFIED: CredentialSource
CREDENTIAL_SOURCE_SETTING: CredentialSource
CREDENTIAL_SOURCE_TOKEN_FILE: CredentialSource
CREDENTIAL_SOURCE_CERTIFICATE: CredentialSource

class GetDeploymentRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetDeploymentResponse(_message.Message):
    __slots__ = ("read_at", "workers", "toolhosts", "queues", "feeds", "store", "problems")
    READ_AT_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    TOOLHOSTS_FIELD_NUMBER: _ClassVar[int]
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    FEEDS_FIELD_NUMBER: _ClassVar[int]
    STORE_FIELD_NUMBER: _ClassVar[int]
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    read_at: _timestamp_pb2.Timestamp
    workers: _containers.RepeatedCompositeFieldContainer[Worker]
    toolhosts: _containers.RepeatedCompositeFieldContainer[Toolhost]
    queues: _containers.RepeatedCompositeFieldContainer[Queue]
    feeds: _containers.RepeatedCompositeFieldContainer[FeedLag]
    store: Store
    problems: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, read_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., workers: _Optional[_Iterable[_Union[Worker, _Mapping]]] = ..., toolhosts: _Optional[_Iterable[_Union[Toolhost, _Mapping]]] = ..., queues: _Optional[_Iterable[_Union[Queue, _Mapping]]] = ..., feeds: _Optional[_Iterable[_Union[FeedLag, _Mapping]]] = ..., store: _Optional[_Union[Store, _Mapping]] = ..., problems: _Optional[_Iterable[str]] = ...) -> None: ...

class Worker(_message.Message):
    __slots__ = ("name", "slots", "active", "draining", "since", "run_ids")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    RUN_IDS_FIELD_NUMBER: _ClassVar[int]
    name: str
    slots: int
    active: int
    draining: bool
    since: _timestamp_pb2.Timestamp
    run_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., slots: _Optional[int] = ..., active: _Optional[int] = ..., draining: _Optional[bool] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., run_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class Toolhost(_message.Message):
    __slots__ = ("name", "pool", "slots", "busy", "draining", "since", "run_ids", "isolation", "warm_sandboxes", "spare_sandboxes", "workspaces")
    NAME_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    BUSY_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    RUN_IDS_FIELD_NUMBER: _ClassVar[int]
    ISOLATION_FIELD_NUMBER: _ClassVar[int]
    WARM_SANDBOXES_FIELD_NUMBER: _ClassVar[int]
    SPARE_SANDBOXES_FIELD_NUMBER: _ClassVar[int]
    WORKSPACES_FIELD_NUMBER: _ClassVar[int]
    name: str
    pool: str
    slots: int
    busy: int
    draining: bool
    since: _timestamp_pb2.Timestamp
    run_ids: _containers.RepeatedScalarFieldContainer[str]
    isolation: str
    warm_sandboxes: int
    spare_sandboxes: int
    workspaces: int
    def __init__(self, name: _Optional[str] = ..., pool: _Optional[str] = ..., slots: _Optional[int] = ..., busy: _Optional[int] = ..., draining: _Optional[bool] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., run_ids: _Optional[_Iterable[str]] = ..., isolation: _Optional[str] = ..., warm_sandboxes: _Optional[int] = ..., spare_sandboxes: _Optional[int] = ..., workspaces: _Optional[int] = ...) -> None: ...

class Queue(_message.Message):
    __slots__ = ("kind", "name", "waiting", "taken", "redelivered", "oldest_age")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    TAKEN_FIELD_NUMBER: _ClassVar[int]
    REDELIVERED_FIELD_NUMBER: _ClassVar[int]
    OLDEST_AGE_FIELD_NUMBER: _ClassVar[int]
    kind: QueueKind
    name: str
    waiting: int
    taken: int
    redelivered: int
    oldest_age: _duration_pb2.Duration
    def __init__(self, kind: _Optional[_Union[QueueKind, str]] = ..., name: _Optional[str] = ..., waiting: _Optional[int] = ..., taken: _Optional[int] = ..., redelivered: _Optional[int] = ..., oldest_age: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class FeedLag(_message.Message):
    __slots__ = ("name", "batches_behind")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BATCHES_BEHIND_FIELD_NUMBER: _ClassVar[int]
    name: str
    batches_behind: int
    def __init__(self, name: _Optional[str] = ..., batches_behind: _Optional[int] = ...) -> None: ...

class Store(_message.Message):
    __slots__ = ("bytes", "max_bytes", "reserve_in_use", "streams")
    BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    RESERVE_IN_USE_FIELD_NUMBER: _ClassVar[int]
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    bytes: int
    max_bytes: int
    reserve_in_use: bool
    streams: _containers.RepeatedCompositeFieldContainer[StoreStream]
    def __init__(self, bytes: _Optional[int] = ..., max_bytes: _Optional[int] = ..., reserve_in_use: _Optional[bool] = ..., streams: _Optional[_Iterable[_Union[StoreStream, _Mapping]]] = ...) -> None: ...

class StoreStream(_message.Message):
    __slots__ = ("name", "bytes", "messages")
    NAME_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    name: str
    bytes: int
    messages: int
    def __init__(self, name: _Optional[str] = ..., bytes: _Optional[int] = ..., messages: _Optional[int] = ...) -> None: ...

class ListModelActivityRequest(_message.Message):
    __slots__ = ("all_tenants",)
    ALL_TENANTS_FIELD_NUMBER: _ClassVar[int]
    all_tenants: bool
    def __init__(self, all_tenants: _Optional[bool] = ...) -> None: ...

class ListModelActivityResponse(_message.Message):
    __slots__ = ("models",)
    MODELS_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[ModelActivity]
    def __init__(self, models: _Optional[_Iterable[_Union[ModelActivity, _Mapping]]] = ...) -> None: ...

class ModelActivity(_message.Message):
    __slots__ = ("provider", "model", "calls", "failures", "input_tokens", "output_tokens", "cost_usd", "unpriced_calls", "median_duration", "p95_duration", "failed_run_ids")
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    UNPRICED_CALLS_FIELD_NUMBER: _ClassVar[int]
    MEDIAN_DURATION_FIELD_NUMBER: _ClassVar[int]
    P95_DURATION_FIELD_NUMBER: _ClassVar[int]
    FAILED_RUN_IDS_FIELD_NUMBER: _ClassVar[int]
    provider: str
    model: str
    calls: int
    failures: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    unpriced_calls: int
    median_duration: _duration_pb2.Duration
    p95_duration: _duration_pb2.Duration
    failed_run_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, provider: _Optional[str] = ..., model: _Optional[str] = ..., calls: _Optional[int] = ..., failures: _Optional[int] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cost_usd: _Optional[float] = ..., unpriced_calls: _Optional[int] = ..., median_duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., p95_duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., failed_run_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ListQuotasRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListQuotasResponse(_message.Message):
    __slots__ = ("limits",)
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    limits: _containers.RepeatedCompositeFieldContainer[QuotaLimit]
    def __init__(self, limits: _Optional[_Iterable[_Union[QuotaLimit, _Mapping]]] = ...) -> None: ...

class QuotaLimit(_message.Message):
    __slots__ = ("quota", "limit", "max", "used", "per_subject")
    QUOTA_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    USED_FIELD_NUMBER: _ClassVar[int]
    PER_SUBJECT_FIELD_NUMBER: _ClassVar[int]
    quota: str
    limit: str
    max: float
    used: float
    per_subject: bool
    def __init__(self, quota: _Optional[str] = ..., limit: _Optional[str] = ..., max: _Optional[float] = ..., used: _Optional[float] = ..., per_subject: _Optional[bool] = ...) -> None: ...

class ListCredentialsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListCredentialsResponse(_message.Message):
    __slots__ = ("credentials", "accepts_identity_provider")
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    ACCEPTS_IDENTITY_PROVIDER_FIELD_NUMBER: _ClassVar[int]
    credentials: _containers.RepeatedCompositeFieldContainer[ListedCredential]
    accepts_identity_provider: bool
    def __init__(self, credentials: _Optional[_Iterable[_Union[ListedCredential, _Mapping]]] = ..., accepts_identity_provider: _Optional[bool] = ...) -> None: ...

class ListedCredential(_message.Message):
    __slots__ = ("subject", "roles", "source", "credential_id", "certificate_name", "expires_at")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    CERTIFICATE_NAME_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    subject: str
    roles: _containers.RepeatedScalarFieldContainer[_role_pb2.Role]
    source: CredentialSource
    credential_id: str
    certificate_name: str
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, subject: _Optional[str] = ..., roles: _Optional[_Iterable[_Union[_role_pb2.Role, str]]] = ..., source: _Optional[_Union[CredentialSource, str]] = ..., credential_id: _Optional[str] = ..., certificate_name: _Optional[str] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
