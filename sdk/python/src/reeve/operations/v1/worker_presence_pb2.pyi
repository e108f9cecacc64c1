import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WorkerPresence(_message.Message):
    __slots__ = ("worker", "slots", "active", "draining", "since", "runs", "model_calls")
    WORKER_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    DRAINING_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    RUNS_FIELD_NUMBER: _ClassVar[int]
    MODEL_CALLS_FIELD_NUMBER: _ClassVar[int]
    worker: str
    slots: int
    active: int
    draining: bool
    since: _timestamp_pb2.Timestamp
    runs: _containers.RepeatedCompositeFieldContainer[DrivenRun]
    model_calls: _containers.RepeatedCompositeFieldContainer[ModelCalls]
    def __init__(self, worker: _Optional[str] = ..., slots: _Optional[int] = ..., active: _Optional[int] = ..., draining: _Optional[bool] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., runs: _Optional[_Iterable[_Union[DrivenRun, _Mapping]]] = ..., model_calls: _Optional[_Iterable[_Union[ModelCalls, _Mapping]]] = ...) -> None: ...

class DrivenRun(_message.Message):
    __slots__ = ("tenant", "run_id")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    run_id: str
    def __init__(self, tenant: _Optional[str] = ..., run_id: _Optional[str] = ...) -> None: ...

class ModelCalls(_message.Message):
    __slots__ = ("tenant", "provider", "model", "calls", "failures", "input_tokens", "output_tokens", "cost_usd", "unpriced_calls", "durations", "failed_run_ids")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    UNPRICED_CALLS_FIELD_NUMBER: _ClassVar[int]
    DURATIONS_FIELD_NUMBER: _ClassVar[int]
    FAILED_RUN_IDS_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    provider: str
    model: str
    calls: int
    failures: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    unpriced_calls: int
    durations: _containers.RepeatedScalarFieldContainer[int]
    failed_run_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, tenant: _Optional[str] = ..., provider: _Optional[str] = ..., model: _Optional[str] = ..., calls: _Optional[int] = ..., failures: _Optional[int] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cost_usd: _Optional[float] = ..., unpriced_calls: _Optional[int] = ..., durations: _Optional[_Iterable[int]] = ..., failed_run_ids: _Optional[_Iterable[str]] = ...) -> None: ...
