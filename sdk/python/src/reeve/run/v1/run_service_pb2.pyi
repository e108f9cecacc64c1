import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from reeve.agent.v1 import resolution_plan_pb2 as _resolution_plan_pb2
from reeve.content.v1 import content_pb2 as _content_pb2
from reeve.run.v1 import run_event_pb2 as _run_event_pb2
from reeve.thread.v1 import execution_tree_pb2 as _execution_tree_pb2
from reeve.thread.v1 import message_pb2 as _message_pb2
from reeve.tool.v1 import client_tool_pb2 as _client_tool_pb2
from reeve.tool.v1 import tool_pb2 as _tool_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RunWaitKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUN_WAIT_KIND_UNSPECIFIED: _ClassVar[RunWaitKind]
    RUN_WAIT_KIND_DECISION: _ClassVar[RunWaitKind]
    RUN_WAIT_KIND_CLIENT_CALL: _ClassVar[RunWaitKind]

class OnBusy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ON_BUSY_UNSPECIFIED: _ClassVar[OnBusy]
    ON_BUSY_REJECT: _ClassVar[OnBusy]
    ON_BUSY_QUEUE: _ClassVar[OnBusy]
    ON_BUSY_INTERRUPT: _ClassVar[OnBusy]

class RunOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUN_ORDER_UNSPECIFIED: _ClassVar[RunOrder]
    RUN_ORDER_NEWEST: _ClassVar[RunOrder]
    RUN_ORDER_COST: _ClassVar[RunOrder]
RUN_WAIT_KIND_UNSPECIFIED: RunWaitKind
RUN_WAIT_KIND_DECISION: RunWaitKind
RUN_WAIT_KIND_CLIENT_CALL: RunWaitKind
ON_BUSY_UNSPECIFIED: OnBusy
ON_BUSY_REJECT: OnBusy
ON_BUSY_QUEUE: OnBusy
ON_BUSY_INTERRUPT: OnBusy
RUN_ORDER_UNSPECIFIED: RunOrder
RUN_ORDER_NEWEST: RunOrder
RUN_ORDER_COST: RunOrder

class Run(_message.Message):
    __slots__ = ("run_id", "agent_id", "status", "created_at", "ended_at", "last_sequence", "output", "error", "cost", "input_preview", "pending_approvals", "labels", "scripted", "thread_id", "unknown_event_sequence", "incomplete_reason", "plan", "origin", "model_wait", "deleting", "started_by", "agent_revision", "plan_hash", "structured_output", "input_parts", "waiting_for", "spent_usd", "failed_subtasks")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    INPUT_PREVIEW_FIELD_NUMBER: _ClassVar[int]
    PENDING_APPROVALS_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    SCRIPTED_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_EVENT_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    INCOMPLETE_REASON_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    MODEL_WAIT_FIELD_NUMBER: _ClassVar[int]
    DELETING_FIELD_NUMBER: _ClassVar[int]
    STARTED_BY_FIELD_NUMBER: _ClassVar[int]
    AGENT_REVISION_FIELD_NUMBER: _ClassVar[int]
    PLAN_HASH_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    INPUT_PARTS_FIELD_NUMBER: _ClassVar[int]
    WAITING_FOR_FIELD_NUMBER: _ClassVar[int]
    SPENT_USD_FIELD_NUMBER: _ClassVar[int]
    FAILED_SUBTASKS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    agent_id: str
    status: _run_event_pb2.RunStatus
    created_at: _timestamp_pb2.Timestamp
    ended_at: _timestamp_pb2.Timestamp
    last_sequence: int
    output: str
    error: _run_event_pb2.RunError
    cost: _run_event_pb2.CostSummary
    input_preview: str
    pending_approvals: _containers.RepeatedScalarFieldContainer[str]
    labels: _containers.ScalarMap[str, str]
    scripted: bool
    thread_id: str
    unknown_event_sequence: int
    incomplete_reason: _run_event_pb2.IncompleteReason
    plan: _containers.RepeatedScalarFieldContainer[str]
    origin: _run_event_pb2.RunOrigin
    model_wait: ModelWait
    deleting: bool
    started_by: str
    agent_revision: int
    plan_hash: str
    structured_output: _struct_pb2.Struct
    input_parts: _containers.RepeatedCompositeFieldContainer[_content_pb2.ContentPart]
    waiting_for: _containers.RepeatedCompositeFieldContainer[RunWait]
    spent_usd: float
    failed_subtasks: int
    def __init__(self, run_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., status: _Optional[_Union[_run_event_pb2.RunStatus, str]] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_sequence: _Optional[int] = ..., output: _Optional[str] = ..., error: _Optional[_Union[_run_event_pb2.RunError, _Mapping]] = ..., cost: _Optional[_Union[_run_event_pb2.CostSummary, _Mapping]] = ..., input_preview: _Optional[str] = ..., pending_approvals: _Optional[_Iterable[str]] = ..., labels: _Optional[_Mapping[str, str]] = ..., scripted: _Optional[bool] = ..., thread_id: _Optional[str] = ..., unknown_event_sequence: _Optional[int] = ..., incomplete_reason: _Optional[_Union[_run_event_pb2.IncompleteReason, str]] = ..., plan: _Optional[_Iterable[str]] = ..., origin: _Optional[_Union[_run_event_pb2.RunOrigin, _Mapping]] = ..., model_wait: _Optional[_Union[ModelWait, _Mapping]] = ..., deleting: _Optional[bool] = ..., started_by: _Optional[str] = ..., agent_revision: _Optional[int] = ..., plan_hash: _Optional[str] = ..., structured_output: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., input_parts: _Optional[_Iterable[_Union[_content_pb2.ContentPart, _Mapping]]] = ..., waiting_for: _Optional[_Iterable[_Union[RunWait, _Mapping]]] = ..., spent_usd: _Optional[float] = ..., failed_subtasks: _Optional[int] = ...) -> None: ...

class RunWait(_message.Message):
    __slots__ = ("kind", "id", "name", "answered_by_person", "client_id", "until")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_BY_PERSON_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    kind: RunWaitKind
    id: str
    name: str
    answered_by_person: bool
    client_id: str
    until: _timestamp_pb2.Timestamp
    def __init__(self, kind: _Optional[_Union[RunWaitKind, str]] = ..., id: _Optional[str] = ..., name: _Optional[str] = ..., answered_by_person: _Optional[bool] = ..., client_id: _Optional[str] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ModelWait(_message.Message):
    __slots__ = ("provider", "reason", "message", "attempt", "until")
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    provider: str
    reason: str
    message: str
    attempt: int
    until: _timestamp_pb2.Timestamp
    def __init__(self, provider: _Optional[str] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ..., attempt: _Optional[int] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class StartRunRequest(_message.Message):
    __slots__ = ("agent_id", "input", "request_id", "messages", "files", "labels", "thread_id", "executor", "cancel_on_disconnect", "on_busy", "chat_context", "memory_enabled", "workflow_target", "media_generation", "output_schema", "parts", "agent_mode", "client_tools", "collections")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_FIELD_NUMBER: _ClassVar[int]
    CANCEL_ON_DISCONNECT_FIELD_NUMBER: _ClassVar[int]
    ON_BUSY_FIELD_NUMBER: _ClassVar[int]
    CHAT_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ENABLED_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_TARGET_FIELD_NUMBER: _ClassVar[int]
    MEDIA_GENERATION_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    AGENT_MODE_FIELD_NUMBER: _ClassVar[int]
    CLIENT_TOOLS_FIELD_NUMBER: _ClassVar[int]
    COLLECTIONS_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    input: str
    request_id: str
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    files: _containers.RepeatedCompositeFieldContainer[_tool_pb2.WorkspaceFile]
    labels: _containers.ScalarMap[str, str]
    thread_id: str
    executor: str
    cancel_on_disconnect: bool
    on_busy: OnBusy
    chat_context: _run_event_pb2.ChatContext
    memory_enabled: bool
    workflow_target: str
    media_generation: MediaGeneration
    output_schema: _struct_pb2.Struct
    parts: _containers.RepeatedCompositeFieldContainer[_content_pb2.ContentPart]
    agent_mode: bool
    client_tools: _client_tool_pb2.ClientManifest
    collections: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, agent_id: _Optional[str] = ..., input: _Optional[str] = ..., request_id: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., files: _Optional[_Iterable[_Union[_tool_pb2.WorkspaceFile, _Mapping]]] = ..., labels: _Optional[_Mapping[str, str]] = ..., thread_id: _Optional[str] = ..., executor: _Optional[str] = ..., cancel_on_disconnect: _Optional[bool] = ..., on_busy: _Optional[_Union[OnBusy, str]] = ..., chat_context: _Optional[_Union[_run_event_pb2.ChatContext, _Mapping]] = ..., memory_enabled: _Optional[bool] = ..., workflow_target: _Optional[str] = ..., media_generation: _Optional[_Union[MediaGeneration, _Mapping]] = ..., output_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., parts: _Optional[_Iterable[_Union[_content_pb2.ContentPart, _Mapping]]] = ..., agent_mode: _Optional[bool] = ..., client_tools: _Optional[_Union[_client_tool_pb2.ClientManifest, _Mapping]] = ..., collections: _Optional[_Iterable[str]] = ...) -> None: ...

class MediaGeneration(_message.Message):
    __slots__ = ("mode", "model", "count", "size", "quality", "voice", "format")
    MODE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    QUALITY_FIELD_NUMBER: _ClassVar[int]
    VOICE_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    mode: str
    model: str
    count: int
    size: str
    quality: str
    voice: str
    format: str
    def __init__(self, mode: _Optional[str] = ..., model: _Optional[str] = ..., count: _Optional[int] = ..., size: _Optional[str] = ..., quality: _Optional[str] = ..., voice: _Optional[str] = ..., format: _Optional[str] = ...) -> None: ...

class StartRunResponse(_message.Message):
    __slots__ = ("run", "warnings")
    RUN_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    run: Run
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, run: _Optional[_Union[Run, _Mapping]] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class WatchRunRequest(_message.Message):
    __slots__ = ("run_id", "after_sequence", "resume_token", "detailed", "families")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    DETAILED_FIELD_NUMBER: _ClassVar[int]
    FAMILIES_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    after_sequence: int
    resume_token: str
    detailed: bool
    families: EventFamilies
    def __init__(self, run_id: _Optional[str] = ..., after_sequence: _Optional[int] = ..., resume_token: _Optional[str] = ..., detailed: _Optional[bool] = ..., families: _Optional[_Union[EventFamilies, _Mapping]] = ...) -> None: ...

class EventFamilies(_message.Message):
    __slots__ = ("families",)
    FAMILIES_FIELD_NUMBER: _ClassVar[int]
    families: _containers.RepeatedScalarFieldContainer[_run_event_pb2.EventFamily]
    def __init__(self, families: _Optional[_Iterable[_Union[_run_event_pb2.EventFamily, str]]] = ...) -> None: ...

class WatchRunResponse(_message.Message):
    __slots__ = ("events", "through_sequence", "resume_token", "end_status")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    THROUGH_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    END_STATUS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_run_event_pb2.RunEvent]
    through_sequence: int
    resume_token: str
    end_status: _run_event_pb2.RunStatus
    def __init__(self, events: _Optional[_Iterable[_Union[_run_event_pb2.RunEvent, _Mapping]]] = ..., through_sequence: _Optional[int] = ..., resume_token: _Optional[str] = ..., end_status: _Optional[_Union[_run_event_pb2.RunStatus, str]] = ...) -> None: ...

class GetRunRequest(_message.Message):
    __slots__ = ("run_id", "include_plan")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_PLAN_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    include_plan: bool
    def __init__(self, run_id: _Optional[str] = ..., include_plan: _Optional[bool] = ...) -> None: ...

class GetRunResponse(_message.Message):
    __slots__ = ("run", "plan")
    RUN_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    run: Run
    plan: _resolution_plan_pb2.ResolutionPlan
    def __init__(self, run: _Optional[_Union[Run, _Mapping]] = ..., plan: _Optional[_Union[_resolution_plan_pb2.ResolutionPlan, _Mapping]] = ...) -> None: ...

class ListRunsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "agent_id", "statuses", "thread_id", "filter", "order")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    STATUSES_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    agent_id: str
    statuses: _containers.RepeatedScalarFieldContainer[_run_event_pb2.RunStatus]
    thread_id: str
    filter: RunFilter
    order: RunOrder
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., agent_id: _Optional[str] = ..., statuses: _Optional[_Iterable[_Union[_run_event_pb2.RunStatus, str]]] = ..., thread_id: _Optional[str] = ..., filter: _Optional[_Union[RunFilter, _Mapping]] = ..., order: _Optional[_Union[RunOrder, str]] = ...) -> None: ...

class RunFilter(_message.Message):
    __slots__ = ("agent_id", "statuses", "thread_id", "started_by", "labels", "created_after", "created_before", "min_cost_usd", "text", "has_failed_subtasks")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    STATUSES_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    STARTED_BY_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AFTER_FIELD_NUMBER: _ClassVar[int]
    CREATED_BEFORE_FIELD_NUMBER: _ClassVar[int]
    MIN_COST_USD_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    HAS_FAILED_SUBTASKS_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    statuses: _containers.RepeatedScalarFieldContainer[_run_event_pb2.RunStatus]
    thread_id: str
    started_by: str
    labels: _containers.ScalarMap[str, str]
    created_after: _timestamp_pb2.Timestamp
    created_before: _timestamp_pb2.Timestamp
    min_cost_usd: float
    text: str
    has_failed_subtasks: bool
    def __init__(self, agent_id: _Optional[str] = ..., statuses: _Optional[_Iterable[_Union[_run_event_pb2.RunStatus, str]]] = ..., thread_id: _Optional[str] = ..., started_by: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., created_after: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., created_before: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., min_cost_usd: _Optional[float] = ..., text: _Optional[str] = ..., has_failed_subtasks: _Optional[bool] = ...) -> None: ...

class CountRunsRequest(_message.Message):
    __slots__ = ("filter", "interval")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_FIELD_NUMBER: _ClassVar[int]
    filter: RunFilter
    interval: _duration_pb2.Duration
    def __init__(self, filter: _Optional[_Union[RunFilter, _Mapping]] = ..., interval: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class CountRunsResponse(_message.Message):
    __slots__ = ("statuses", "cost_usd", "intervals", "is_partial")
    STATUSES_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    INTERVALS_FIELD_NUMBER: _ClassVar[int]
    IS_PARTIAL_FIELD_NUMBER: _ClassVar[int]
    statuses: _containers.RepeatedCompositeFieldContainer[RunStatusCount]
    cost_usd: float
    intervals: _containers.RepeatedCompositeFieldContainer[RunInterval]
    is_partial: bool
    def __init__(self, statuses: _Optional[_Iterable[_Union[RunStatusCount, _Mapping]]] = ..., cost_usd: _Optional[float] = ..., intervals: _Optional[_Iterable[_Union[RunInterval, _Mapping]]] = ..., is_partial: _Optional[bool] = ...) -> None: ...

class RunStatusCount(_message.Message):
    __slots__ = ("status", "count")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    status: _run_event_pb2.RunStatus
    count: int
    def __init__(self, status: _Optional[_Union[_run_event_pb2.RunStatus, str]] = ..., count: _Optional[int] = ...) -> None: ...

class RunInterval(_message.Message):
    __slots__ = ("start", "runs", "failed", "cost_usd")
    START_FIELD_NUMBER: _ClassVar[int]
    RUNS_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    start: _timestamp_pb2.Timestamp
    runs: int
    failed: int
    cost_usd: float
    def __init__(self, start: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., runs: _Optional[int] = ..., failed: _Optional[int] = ..., cost_usd: _Optional[float] = ...) -> None: ...

class ListRunsResponse(_message.Message):
    __slots__ = ("runs", "next_page_token", "is_partial")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    IS_PARTIAL_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[Run]
    next_page_token: str
    is_partial: bool
    def __init__(self, runs: _Optional[_Iterable[_Union[Run, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., is_partial: _Optional[bool] = ...) -> None: ...

class GetExecutionTreeRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class GetExecutionTreeResponse(_message.Message):
    __slots__ = ("tree", "through_sequence")
    TREE_FIELD_NUMBER: _ClassVar[int]
    THROUGH_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    tree: _execution_tree_pb2.ExecutionTree
    through_sequence: int
    def __init__(self, tree: _Optional[_Union[_execution_tree_pb2.ExecutionTree, _Mapping]] = ..., through_sequence: _Optional[int] = ...) -> None: ...

class CancelRunRequest(_message.Message):
    __slots__ = ("run_id", "reason")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    reason: str
    def __init__(self, run_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class CancelRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: Run
    def __init__(self, run: _Optional[_Union[Run, _Mapping]] = ...) -> None: ...

class RetryRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class RetryRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: Run
    def __init__(self, run: _Optional[_Union[Run, _Mapping]] = ...) -> None: ...

class DeleteRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class DeleteRunResponse(_message.Message):
    __slots__ = ("existed",)
    EXISTED_FIELD_NUMBER: _ClassVar[int]
    existed: bool
    def __init__(self, existed: _Optional[bool] = ...) -> None: ...

class SendMessageRequest(_message.Message):
    __slots__ = ("run_id", "text", "message_id", "parts")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    text: str
    message_id: str
    parts: _containers.RepeatedCompositeFieldContainer[_content_pb2.ContentPart]
    def __init__(self, run_id: _Optional[str] = ..., text: _Optional[str] = ..., message_id: _Optional[str] = ..., parts: _Optional[_Iterable[_Union[_content_pb2.ContentPart, _Mapping]]] = ...) -> None: ...

class SendMessageResponse(_message.Message):
    __slots__ = ("message_id", "sequence")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    sequence: int
    def __init__(self, message_id: _Optional[str] = ..., sequence: _Optional[int] = ...) -> None: ...

class ExportRunLogRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class ExportRunLogResponse(_message.Message):
    __slots__ = ("subject", "batches", "indexed_run")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    BATCHES_FIELD_NUMBER: _ClassVar[int]
    INDEXED_RUN_FIELD_NUMBER: _ClassVar[int]
    subject: str
    batches: _containers.RepeatedCompositeFieldContainer[StoredRunBatch]
    indexed_run: Run
    def __init__(self, subject: _Optional[str] = ..., batches: _Optional[_Iterable[_Union[StoredRunBatch, _Mapping]]] = ..., indexed_run: _Optional[_Union[Run, _Mapping]] = ...) -> None: ...

class StoredRunBatch(_message.Message):
    __slots__ = ("revision", "first_sequence", "last_sequence", "kinds", "digest", "payload")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    FIRST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    revision: int
    first_sequence: int
    last_sequence: int
    kinds: _containers.RepeatedScalarFieldContainer[str]
    digest: str
    payload: bytes
    def __init__(self, revision: _Optional[int] = ..., first_sequence: _Optional[int] = ..., last_sequence: _Optional[int] = ..., kinds: _Optional[_Iterable[str]] = ..., digest: _Optional[str] = ..., payload: _Optional[bytes] = ...) -> None: ...
