import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from reeve.access.v1 import role_pb2 as _role_pb2
from reeve.agent.v1 import agent_spec_pb2 as _agent_spec_pb2
from reeve.agent.v1 import model_spec_pb2 as _model_spec_pb2
from reeve.agent.v1 import offered_plugin_pb2 as _offered_plugin_pb2
from reeve.agent.v1 import resolution_plan_pb2 as _resolution_plan_pb2
from reeve.agent.v1 import skill_pb2 as _skill_pb2
from reeve.approval.v1 import approval_pb2 as _approval_pb2
from reeve.content.v1 import content_pb2 as _content_pb2
from reeve.knowledge.v1 import knowledge_pb2 as _knowledge_pb2
from reeve.plugin.v1 import plugin_pb2 as _plugin_pb2
from reeve.thread.v1 import execution_tree_pb2 as _execution_tree_pb2
from reeve.thread.v1 import history_pb2 as _history_pb2
from reeve.thread.v1 import message_pb2 as _message_pb2
from reeve.tool.v1 import tool_pb2 as _tool_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EventFamily(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_FAMILY_UNSPECIFIED: _ClassVar[EventFamily]
    EVENT_FAMILY_STATUS: _ClassVar[EventFamily]
    EVENT_FAMILY_STEP: _ClassVar[EventFamily]
    EVENT_FAMILY_TEXT: _ClassVar[EventFamily]
    EVENT_FAMILY_REASONING: _ClassVar[EventFamily]
    EVENT_FAMILY_TOOL_CALL: _ClassVar[EventFamily]
    EVENT_FAMILY_MCP_PROGRESS: _ClassVar[EventFamily]
    EVENT_FAMILY_TOOL_RESULT: _ClassVar[EventFamily]
    EVENT_FAMILY_USAGE: _ClassVar[EventFamily]
    EVENT_FAMILY_CONTEXT: _ClassVar[EventFamily]
    EVENT_FAMILY_MESSAGE_INJECTED: _ClassVar[EventFamily]
    EVENT_FAMILY_PLAN: _ClassVar[EventFamily]
    EVENT_FAMILY_APPROVAL: _ClassVar[EventFamily]
    EVENT_FAMILY_SUBTASK: _ClassVar[EventFamily]
    EVENT_FAMILY_BUDGET_EXCEEDED: _ClassVar[EventFamily]
    EVENT_FAMILY_COST_SUMMARY: _ClassVar[EventFamily]
    EVENT_FAMILY_ERROR: _ClassVar[EventFamily]
    EVENT_FAMILY_TEXT_VOIDED: _ClassVar[EventFamily]
    EVENT_FAMILY_RECORD: _ClassVar[EventFamily]

class Phase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PHASE_UNSPECIFIED: _ClassVar[Phase]
    PHASE_PLANNER: _ClassVar[Phase]
    PHASE_EXECUTOR: _ClassVar[Phase]

class RunStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUN_STATUS_UNSPECIFIED: _ClassVar[RunStatus]
    RUN_STATUS_QUEUED: _ClassVar[RunStatus]
    RUN_STATUS_STARTING: _ClassVar[RunStatus]
    RUN_STATUS_RUNNING: _ClassVar[RunStatus]
    RUN_STATUS_WAITING: _ClassVar[RunStatus]
    RUN_STATUS_COMPLETED: _ClassVar[RunStatus]
    RUN_STATUS_ERROR: _ClassVar[RunStatus]
    RUN_STATUS_CANCELLED: _ClassVar[RunStatus]

class IncompleteReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INCOMPLETE_REASON_UNSPECIFIED: _ClassVar[IncompleteReason]
    INCOMPLETE_REASON_TRUNCATED: _ClassVar[IncompleteReason]
    INCOMPLETE_REASON_FILTERED: _ClassVar[IncompleteReason]

class StepState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STEP_STATE_UNSPECIFIED: _ClassVar[StepState]
    STEP_STATE_STARTED: _ClassVar[StepState]
    STEP_STATE_COMPLETED: _ClassVar[StepState]

class ChatContextKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHAT_CONTEXT_KIND_UNSPECIFIED: _ClassVar[ChatContextKind]
    CHAT_CONTEXT_KIND_THREAD: _ClassVar[ChatContextKind]
    CHAT_CONTEXT_KIND_EDITOR: _ClassVar[ChatContextKind]

class OwnerFate(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OWNER_FATE_UNSPECIFIED: _ClassVar[OwnerFate]
    OWNER_FATE_ALIVE: _ClassVar[OwnerFate]
    OWNER_FATE_ENDED: _ClassVar[OwnerFate]
    OWNER_FATE_CRASHED: _ClassVar[OwnerFate]

class ModelCallPurpose(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MODEL_CALL_PURPOSE_UNSPECIFIED: _ClassVar[ModelCallPurpose]
    MODEL_CALL_PURPOSE_ANSWER: _ClassVar[ModelCallPurpose]
    MODEL_CALL_PURPOSE_SUMMARY: _ClassVar[ModelCallPurpose]

class GuardTarget(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GUARD_TARGET_UNSPECIFIED: _ClassVar[GuardTarget]
    GUARD_TARGET_INPUT: _ClassVar[GuardTarget]
    GUARD_TARGET_OUTPUT: _ClassVar[GuardTarget]
    GUARD_TARGET_ARGUMENTS: _ClassVar[GuardTarget]
    GUARD_TARGET_RESULT: _ClassVar[GuardTarget]

class GuardAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GUARD_ACTION_UNSPECIFIED: _ClassVar[GuardAction]
    GUARD_ACTION_PASS: _ClassVar[GuardAction]
    GUARD_ACTION_REDACT: _ClassVar[GuardAction]
    GUARD_ACTION_ASK: _ClassVar[GuardAction]
    GUARD_ACTION_REFUSE: _ClassVar[GuardAction]
    GUARD_ACTION_STOP: _ClassVar[GuardAction]

class ClientCallState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CLIENT_CALL_STATE_UNSPECIFIED: _ClassVar[ClientCallState]
    CLIENT_CALL_STATE_OPEN: _ClassVar[ClientCallState]
    CLIENT_CALL_STATE_TAKEN: _ClassVar[ClientCallState]
    CLIENT_CALL_STATE_ANSWERED: _ClassVar[ClientCallState]
    CLIENT_CALL_STATE_EXPIRED: _ClassVar[ClientCallState]

class TodoStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TODO_STATUS_UNSPECIFIED: _ClassVar[TodoStatus]
    TODO_STATUS_PENDING: _ClassVar[TodoStatus]
    TODO_STATUS_IN_PROGRESS: _ClassVar[TodoStatus]
    TODO_STATUS_COMPLETED: _ClassVar[TodoStatus]
EVENT_FAMILY_UNSPECIFIED: EventFamily
EVENT_FAMILY_STATUS: EventFamily
EVENT_FAMILY_STEP: EventFamily
EVENT_FAMILY_TEXT: EventFamily
EVENT_FAMILY_REASONING: EventFamily
EVENT_FAMILY_TOOL_CALL: EventFamily
EVENT_FAMILY_MCP_PROGRESS: EventFamily
EVENT_FAMILY_TOOL_RESULT: EventFamily
EVENT_FAMILY_USAGE: EventFamily
EVENT_FAMILY_CONTEXT: EventFamily
EVENT_FAMILY_MESSAGE_INJECTED: EventFamily
EVENT_FAMILY_PLAN: EventFamily
EVENT_FAMILY_APPROVAL: EventFamily
EVENT_FAMILY_SUBTASK: EventFamily
EVENT_FAMILY_BUDGET_EXCEEDED: EventFamily
EVENT_FAMILY_COST_SUMMARY: EventFamily
EVENT_FAMILY_ERROR: EventFamily
EVENT_FAMILY_TEXT_VOIDED: EventFamily
EVENT_FAMILY_RECORD: EventFamily
PHASE_UNSPECIFIED: Phase
PHASE_PLANNER: Phase
PHASE_EXECUTOR: Phase
RUN_STATUS_UNSPECIFIED: RunStatus
RUN_STATUS_QUEUED: RunStatus
RUN_STATUS_STARTING: RunStatus
RUN_STATUS_RUNNING: RunStatus
RUN_STATUS_WAITING: RunStatus
RUN_STATUS_COMPLETED: RunStatus
RUN_STATUS_ERROR: RunStatus
RUN_STATUS_CANCELLED: RunStatus
INCOMPLETE_REASON_UNSPECIFIED: IncompleteReason
INCOMPLETE_REASON_TRUNCATED: IncompleteReason
INCOMPLETE_REASON_FILTERED: IncompleteReason
STEP_STATE_UNSPECIFIED: StepState
STEP_STATE_STARTED: StepState
STEP_STATE_COMPLETED: StepState
CHAT_CONTEXT_KIND_UNSPECIFIED: ChatContextKind
CHAT_CONTEXT_KIND_THREAD: ChatContextKind
CHAT_CONTEXT_KIND_EDITOR: ChatContextKind
OWNER_FATE_UNSPECIFIED: OwnerFate
OWNER_FATE_ALIVE: OwnerFate
OWNER_FATE_ENDED: OwnerFate
OWNER_FATE_CRASHED: OwnerFate
MODEL_CALL_PURPOSE_UNSPECIFIED: ModelCallPurpose
MODEL_CALL_PURPOSE_ANSWER: ModelCallPurpose
MODEL_CALL_PURPOSE_SUMMARY: ModelCallPurpose
GUARD_TARGET_UNSPECIFIED: GuardTarget
GUARD_TARGET_INPUT: GuardTarget
GUARD_TARGET_OUTPUT: GuardTarget
GUARD_TARGET_ARGUMENTS: GuardTarget
GUARD_TARGET_RESULT: GuardTarget
GUARD_ACTION_UNSPECIFIED: GuardAction
GUARD_ACTION_PASS: GuardAction
GUARD_ACTION_REDACT: GuardAction
GUARD_ACTION_ASK: GuardAction
GUARD_ACTION_REFUSE: GuardAction
GUARD_ACTION_STOP: GuardAction
CLIENT_CALL_STATE_UNSPECIFIED: ClientCallState
CLIENT_CALL_STATE_OPEN: ClientCallState
CLIENT_CALL_STATE_TAKEN: ClientCallState
CLIENT_CALL_STATE_ANSWERED: ClientCallState
CLIENT_CALL_STATE_EXPIRED: ClientCallState
TODO_STATUS_UNSPECIFIED: TodoStatus
TODO_STATUS_PENDING: TodoStatus
TODO_STATUS_IN_PROGRESS: TodoStatus
TODO_STATUS_COMPLETED: TodoStatus

class RunEvent(_message.Message):
    __slots__ = ("run_id", "sequence", "time", "parent_id", "depth", "step_number", "phase", "standstill", "text", "reasoning", "tool_call", "mcp_progress", "tool_result", "usage", "status", "step", "context", "message_injected", "plan", "approval", "subtask", "budget_exceeded", "cost_summary", "error", "text_voided", "run_created", "run_claimed", "run_parked", "run_prepared", "model_call_started", "model_turn", "model_call_failed", "message_submitted", "cancel_requested", "tool_call_started", "memory_written", "todos_changed", "tree_stored", "model_retry_due", "tokens_counted", "client_call", "plugins_pinned", "plugin_hook_finished", "run_ending", "workflow_prepared", "media_prepared", "media_call_started", "media_call_ended", "remote_task", "workflow_continued")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    STEP_NUMBER_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    STANDSTILL_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    REASONING_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_FIELD_NUMBER: _ClassVar[int]
    MCP_PROGRESS_FIELD_NUMBER: _ClassVar[int]
    TOOL_RESULT_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_INJECTED_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    SUBTASK_FIELD_NUMBER: _ClassVar[int]
    BUDGET_EXCEEDED_FIELD_NUMBER: _ClassVar[int]
    COST_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    TEXT_VOIDED_FIELD_NUMBER: _ClassVar[int]
    RUN_CREATED_FIELD_NUMBER: _ClassVar[int]
    RUN_CLAIMED_FIELD_NUMBER: _ClassVar[int]
    RUN_PARKED_FIELD_NUMBER: _ClassVar[int]
    RUN_PREPARED_FIELD_NUMBER: _ClassVar[int]
    MODEL_CALL_STARTED_FIELD_NUMBER: _ClassVar[int]
    MODEL_TURN_FIELD_NUMBER: _ClassVar[int]
    MODEL_CALL_FAILED_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_SUBMITTED_FIELD_NUMBER: _ClassVar[int]
    CANCEL_REQUESTED_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_STARTED_FIELD_NUMBER: _ClassVar[int]
    MEMORY_WRITTEN_FIELD_NUMBER: _ClassVar[int]
    TODOS_CHANGED_FIELD_NUMBER: _ClassVar[int]
    TREE_STORED_FIELD_NUMBER: _ClassVar[int]
    MODEL_RETRY_DUE_FIELD_NUMBER: _ClassVar[int]
    TOKENS_COUNTED_FIELD_NUMBER: _ClassVar[int]
    CLIENT_CALL_FIELD_NUMBER: _ClassVar[int]
    PLUGINS_PINNED_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_HOOK_FINISHED_FIELD_NUMBER: _ClassVar[int]
    RUN_ENDING_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_PREPARED_FIELD_NUMBER: _ClassVar[int]
    MEDIA_PREPARED_FIELD_NUMBER: _ClassVar[int]
    MEDIA_CALL_STARTED_FIELD_NUMBER: _ClassVar[int]
    MEDIA_CALL_ENDED_FIELD_NUMBER: _ClassVar[int]
    REMOTE_TASK_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_CONTINUED_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    sequence: int
    time: _timestamp_pb2.Timestamp
    parent_id: str
    depth: int
    step_number: int
    phase: Phase
    standstill: _duration_pb2.Duration
    text: Text
    reasoning: Reasoning
    tool_call: _tool_pb2.ToolCall
    mcp_progress: _tool_pb2.ToolProgress
    tool_result: ToolResultEvent
    usage: Usage
    status: StatusChanged
    step: StepChanged
    context: ContextChanged
    message_injected: MessageInjected
    plan: Plan
    approval: ApprovalChanged
    subtask: SubtaskChanged
    budget_exceeded: BudgetExceeded
    cost_summary: CostSummary
    error: RunError
    text_voided: TextVoided
    run_created: RunCreated
    run_claimed: RunClaimed
    run_parked: RunParked
    run_prepared: RunPrepared
    model_call_started: ModelCallStarted
    model_turn: ModelTurn
    model_call_failed: ModelCallFailed
    message_submitted: MessageSubmitted
    cancel_requested: CancelRequested
    tool_call_started: ToolCallStarted
    memory_written: MemoryWritten
    todos_changed: TodosChanged
    tree_stored: TreeStored
    model_retry_due: ModelRetryDue
    tokens_counted: TokensCounted
    client_call: ClientCallChanged
    plugins_pinned: PluginsPinned
    plugin_hook_finished: PluginHookFinished
    run_ending: RunEnding
    workflow_prepared: WorkflowPrepared
    media_prepared: MediaPrepared
    media_call_started: MediaCallStarted
    media_call_ended: MediaCallEnded
    remote_task: RemoteTask
    workflow_continued: WorkflowContinued
    def __init__(self, run_id: _Optional[str] = ..., sequence: _Optional[int] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., parent_id: _Optional[str] = ..., depth: _Optional[int] = ..., step_number: _Optional[int] = ..., phase: _Optional[_Union[Phase, str]] = ..., standstill: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., text: _Optional[_Union[Text, _Mapping]] = ..., reasoning: _Optional[_Union[Reasoning, _Mapping]] = ..., tool_call: _Optional[_Union[_tool_pb2.ToolCall, _Mapping]] = ..., mcp_progress: _Optional[_Union[_tool_pb2.ToolProgress, _Mapping]] = ..., tool_result: _Optional[_Union[ToolResultEvent, _Mapping]] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., status: _Optional[_Union[StatusChanged, _Mapping]] = ..., step: _Optional[_Union[StepChanged, _Mapping]] = ..., context: _Optional[_Union[ContextChanged, _Mapping]] = ..., message_injected: _Optional[_Union[MessageInjected, _Mapping]] = ..., plan: _Optional[_Union[Plan, _Mapping]] = ..., approval: _Optional[_Union[ApprovalChanged, _Mapping]] = ..., subtask: _Optional[_Union[SubtaskChanged, _Mapping]] = ..., budget_exceeded: _Optional[_Union[BudgetExceeded, _Mapping]] = ..., cost_summary: _Optional[_Union[CostSummary, _Mapping]] = ..., error: _Optional[_Union[RunError, _Mapping]] = ..., text_voided: _Optional[_Union[TextVoided, _Mapping]] = ..., run_created: _Optional[_Union[RunCreated, _Mapping]] = ..., run_claimed: _Optional[_Union[RunClaimed, _Mapping]] = ..., run_parked: _Optional[_Union[RunParked, _Mapping]] = ..., run_prepared: _Optional[_Union[RunPrepared, _Mapping]] = ..., model_call_started: _Optional[_Union[ModelCallStarted, _Mapping]] = ..., model_turn: _Optional[_Union[ModelTurn, _Mapping]] = ..., model_call_failed: _Optional[_Union[ModelCallFailed, _Mapping]] = ..., message_submitted: _Optional[_Union[MessageSubmitted, _Mapping]] = ..., cancel_requested: _Optional[_Union[CancelRequested, _Mapping]] = ..., tool_call_started: _Optional[_Union[ToolCallStarted, _Mapping]] = ..., memory_written: _Optional[_Union[MemoryWritten, _Mapping]] = ..., todos_changed: _Optional[_Union[TodosChanged, _Mapping]] = ..., tree_stored: _Optional[_Union[TreeStored, _Mapping]] = ..., model_retry_due: _Optional[_Union[ModelRetryDue, _Mapping]] = ..., tokens_counted: _Optional[_Union[TokensCounted, _Mapping]] = ..., client_call: _Optional[_Union[ClientCallChanged, _Mapping]] = ..., plugins_pinned: _Optional[_Union[PluginsPinned, _Mapping]] = ..., plugin_hook_finished: _Optional[_Union[PluginHookFinished, _Mapping]] = ..., run_ending: _Optional[_Union[RunEnding, _Mapping]] = ..., workflow_prepared: _Optional[_Union[WorkflowPrepared, _Mapping]] = ..., media_prepared: _Optional[_Union[MediaPrepared, _Mapping]] = ..., media_call_started: _Optional[_Union[MediaCallStarted, _Mapping]] = ..., media_call_ended: _Optional[_Union[MediaCallEnded, _Mapping]] = ..., remote_task: _Optional[_Union[RemoteTask, _Mapping]] = ..., workflow_continued: _Optional[_Union[WorkflowContinued, _Mapping]] = ...) -> None: ...

class Text(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class Reasoning(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class ToolResultEvent(_message.Message):
    __slots__ = ("result", "success", "error", "duration_ms")
    RESULT_FIELD_NUMBER: _ClassVar[int]
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    result: _tool_pb2.ToolResult
    success: bool
    error: str
    duration_ms: float
    def __init__(self, result: _Optional[_Union[_tool_pb2.ToolResult, _Mapping]] = ..., success: _Optional[bool] = ..., error: _Optional[str] = ..., duration_ms: _Optional[float] = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ("model", "input_tokens", "output_tokens", "cached_input_tokens", "reasoning_tokens", "estimated", "cost_usd", "cache_write_input_tokens")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CACHED_INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    REASONING_TOKENS_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    model: str
    input_tokens: int
    output_tokens: int
    cached_input_tokens: int
    reasoning_tokens: int
    estimated: bool
    cost_usd: float
    cache_write_input_tokens: int
    def __init__(self, model: _Optional[str] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cached_input_tokens: _Optional[int] = ..., reasoning_tokens: _Optional[int] = ..., estimated: _Optional[bool] = ..., cost_usd: _Optional[float] = ..., cache_write_input_tokens: _Optional[int] = ...) -> None: ...

class StatusChanged(_message.Message):
    __slots__ = ("status", "message", "incomplete_reason")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    INCOMPLETE_REASON_FIELD_NUMBER: _ClassVar[int]
    status: RunStatus
    message: str
    incomplete_reason: IncompleteReason
    def __init__(self, status: _Optional[_Union[RunStatus, str]] = ..., message: _Optional[str] = ..., incomplete_reason: _Optional[_Union[IncompleteReason, str]] = ...) -> None: ...

class StepChanged(_message.Message):
    __slots__ = ("state",)
    STATE_FIELD_NUMBER: _ClassVar[int]
    state: StepState
    def __init__(self, state: _Optional[_Union[StepState, str]] = ...) -> None: ...

class ContextChanged(_message.Message):
    __slots__ = ("before_tokens", "after_tokens", "summary", "removed_messages")
    BEFORE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    AFTER_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    REMOVED_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    before_tokens: int
    after_tokens: int
    summary: str
    removed_messages: int
    def __init__(self, before_tokens: _Optional[int] = ..., after_tokens: _Optional[int] = ..., summary: _Optional[str] = ..., removed_messages: _Optional[int] = ...) -> None: ...

class MessageInjected(_message.Message):
    __slots__ = ("message_id", "message")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    message: _message_pb2.Message
    def __init__(self, message_id: _Optional[str] = ..., message: _Optional[_Union[_message_pb2.Message, _Mapping]] = ...) -> None: ...

class Plan(_message.Message):
    __slots__ = ("steps",)
    STEPS_FIELD_NUMBER: _ClassVar[int]
    steps: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, steps: _Optional[_Iterable[str]] = ...) -> None: ...

class ApprovalChanged(_message.Message):
    __slots__ = ("approval",)
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: _approval_pb2.Approval
    def __init__(self, approval: _Optional[_Union[_approval_pb2.Approval, _Mapping]] = ...) -> None: ...

class SubtaskChanged(_message.Message):
    __slots__ = ("subtask_id", "title", "ended", "is_error", "call_id", "index", "error", "message", "result_preview", "incomplete_reason", "agent_id")
    SUBTASK_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RESULT_PREVIEW_FIELD_NUMBER: _ClassVar[int]
    INCOMPLETE_REASON_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    subtask_id: str
    title: str
    ended: bool
    is_error: bool
    call_id: str
    index: int
    error: str
    message: str
    result_preview: str
    incomplete_reason: IncompleteReason
    agent_id: str
    def __init__(self, subtask_id: _Optional[str] = ..., title: _Optional[str] = ..., ended: _Optional[bool] = ..., is_error: _Optional[bool] = ..., call_id: _Optional[str] = ..., index: _Optional[int] = ..., error: _Optional[str] = ..., message: _Optional[str] = ..., result_preview: _Optional[str] = ..., incomplete_reason: _Optional[_Union[IncompleteReason, str]] = ..., agent_id: _Optional[str] = ...) -> None: ...

class BudgetExceeded(_message.Message):
    __slots__ = ("reason", "limit", "observed")
    REASON_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_FIELD_NUMBER: _ClassVar[int]
    reason: str
    limit: float
    observed: float
    def __init__(self, reason: _Optional[str] = ..., limit: _Optional[float] = ..., observed: _Optional[float] = ...) -> None: ...

class CostSummary(_message.Message):
    __slots__ = ("llm_calls", "tool_calls", "input_tokens", "output_tokens", "cost_usd", "subtasks", "cached_input_tokens", "cache_write_input_tokens")
    LLM_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    SUBTASKS_FIELD_NUMBER: _ClassVar[int]
    CACHED_INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    llm_calls: int
    tool_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    subtasks: int
    cached_input_tokens: int
    cache_write_input_tokens: int
    def __init__(self, llm_calls: _Optional[int] = ..., tool_calls: _Optional[int] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cost_usd: _Optional[float] = ..., subtasks: _Optional[int] = ..., cached_input_tokens: _Optional[int] = ..., cache_write_input_tokens: _Optional[int] = ...) -> None: ...

class RunError(_message.Message):
    __slots__ = ("reason", "message", "cause")
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    reason: str
    message: str
    cause: str
    def __init__(self, reason: _Optional[str] = ..., message: _Optional[str] = ..., cause: _Optional[str] = ...) -> None: ...

class TextVoided(_message.Message):
    __slots__ = ("first_sequence",)
    FIRST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    first_sequence: int
    def __init__(self, first_sequence: _Optional[int] = ...) -> None: ...

class RunCreated(_message.Message):
    __slots__ = ("tenant", "agent_id", "agent_revision", "spec", "input", "messages", "files", "started_by", "request_id", "request_hash", "labels", "traceparent", "thread_id", "chat_context", "memory_enabled", "cancel_on_disconnect", "origin", "inherited", "workspace_id", "call_offset", "started_by_roles", "has_policy", "agent_author", "earlier_requesters", "output_schema", "delegates", "parts", "offered_tools", "collections", "collections_restricted", "reader_groups")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    TENANT_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_REVISION_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    STARTED_BY_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_HASH_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    CHAT_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ENABLED_FIELD_NUMBER: _ClassVar[int]
    CANCEL_ON_DISCONNECT_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    INHERITED_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_OFFSET_FIELD_NUMBER: _ClassVar[int]
    STARTED_BY_ROLES_FIELD_NUMBER: _ClassVar[int]
    HAS_POLICY_FIELD_NUMBER: _ClassVar[int]
    AGENT_AUTHOR_FIELD_NUMBER: _ClassVar[int]
    EARLIER_REQUESTERS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    DELEGATES_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    OFFERED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    COLLECTIONS_FIELD_NUMBER: _ClassVar[int]
    COLLECTIONS_RESTRICTED_FIELD_NUMBER: _ClassVar[int]
    READER_GROUPS_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    agent_id: str
    agent_revision: int
    spec: _agent_spec_pb2.AgentSpec
    input: str
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    files: _containers.RepeatedCompositeFieldContainer[_tool_pb2.WorkspaceFile]
    started_by: str
    request_id: str
    request_hash: bytes
    labels: _containers.ScalarMap[str, str]
    traceparent: str
    thread_id: str
    chat_context: ChatContext
    memory_enabled: bool
    cancel_on_disconnect: bool
    origin: RunOrigin
    inherited: InheritedState
    workspace_id: str
    call_offset: int
    started_by_roles: _containers.RepeatedScalarFieldContainer[_role_pb2.Role]
    has_policy: bool
    agent_author: str
    earlier_requesters: _containers.RepeatedScalarFieldContainer[str]
    output_schema: _struct_pb2.Struct
    delegates: _containers.RepeatedCompositeFieldContainer[DelegateAgent]
    parts: _containers.RepeatedCompositeFieldContainer[_content_pb2.ContentPart]
    offered_tools: _containers.RepeatedCompositeFieldContainer[_tool_pb2.ToolDescriptor]
    collections: _containers.RepeatedScalarFieldContainer[str]
    collections_restricted: bool
    reader_groups: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, tenant: _Optional[str] = ..., agent_id: _Optional[str] = ..., agent_revision: _Optional[int] = ..., spec: _Optional[_Union[_agent_spec_pb2.AgentSpec, _Mapping]] = ..., input: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., files: _Optional[_Iterable[_Union[_tool_pb2.WorkspaceFile, _Mapping]]] = ..., started_by: _Optional[str] = ..., request_id: _Optional[str] = ..., request_hash: _Optional[bytes] = ..., labels: _Optional[_Mapping[str, str]] = ..., traceparent: _Optional[str] = ..., thread_id: _Optional[str] = ..., chat_context: _Optional[_Union[ChatContext, _Mapping]] = ..., memory_enabled: _Optional[bool] = ..., cancel_on_disconnect: _Optional[bool] = ..., origin: _Optional[_Union[RunOrigin, _Mapping]] = ..., inherited: _Optional[_Union[InheritedState, _Mapping]] = ..., workspace_id: _Optional[str] = ..., call_offset: _Optional[int] = ..., started_by_roles: _Optional[_Iterable[_Union[_role_pb2.Role, str]]] = ..., has_policy: _Optional[bool] = ..., agent_author: _Optional[str] = ..., earlier_requesters: _Optional[_Iterable[str]] = ..., output_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., delegates: _Optional[_Iterable[_Union[DelegateAgent, _Mapping]]] = ..., parts: _Optional[_Iterable[_Union[_content_pb2.ContentPart, _Mapping]]] = ..., offered_tools: _Optional[_Iterable[_Union[_tool_pb2.ToolDescriptor, _Mapping]]] = ..., collections: _Optional[_Iterable[str]] = ..., collections_restricted: _Optional[bool] = ..., reader_groups: _Optional[_Iterable[str]] = ...) -> None: ...

class DelegateAgent(_message.Message):
    __slots__ = ("agent_id", "revision", "spec", "author")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    revision: int
    spec: _agent_spec_pb2.AgentSpec
    author: str
    def __init__(self, agent_id: _Optional[str] = ..., revision: _Optional[int] = ..., spec: _Optional[_Union[_agent_spec_pb2.AgentSpec, _Mapping]] = ..., author: _Optional[str] = ...) -> None: ...

class InheritedState(_message.Message):
    __slots__ = ("messages", "plan", "todos", "memory", "artifact_ids", "run_ids", "summary", "is_planned", "summarized_run_id")
    class MemoryEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    TODOS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_IDS_FIELD_NUMBER: _ClassVar[int]
    RUN_IDS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    IS_PLANNED_FIELD_NUMBER: _ClassVar[int]
    SUMMARIZED_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[_history_pb2.HistoryMessage]
    plan: _containers.RepeatedScalarFieldContainer[str]
    todos: _containers.RepeatedCompositeFieldContainer[Todo]
    memory: _containers.ScalarMap[str, str]
    artifact_ids: _containers.RepeatedScalarFieldContainer[str]
    run_ids: _containers.RepeatedScalarFieldContainer[str]
    summary: str
    is_planned: bool
    summarized_run_id: str
    def __init__(self, messages: _Optional[_Iterable[_Union[_history_pb2.HistoryMessage, _Mapping]]] = ..., plan: _Optional[_Iterable[str]] = ..., todos: _Optional[_Iterable[_Union[Todo, _Mapping]]] = ..., memory: _Optional[_Mapping[str, str]] = ..., artifact_ids: _Optional[_Iterable[str]] = ..., run_ids: _Optional[_Iterable[str]] = ..., summary: _Optional[str] = ..., is_planned: _Optional[bool] = ..., summarized_run_id: _Optional[str] = ...) -> None: ...

class RunOrigin(_message.Message):
    __slots__ = ("run_id", "sequence")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    sequence: int
    def __init__(self, run_id: _Optional[str] = ..., sequence: _Optional[int] = ...) -> None: ...

class ChatContext(_message.Message):
    __slots__ = ("kind", "workflow_id")
    KIND_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    kind: ChatContextKind
    workflow_id: str
    def __init__(self, kind: _Optional[_Union[ChatContextKind, str]] = ..., workflow_id: _Optional[str] = ...) -> None: ...

class RunClaimed(_message.Message):
    __slots__ = ("worker", "epoch", "dispatch_sequence", "attempt", "traceparent", "previous_owner")
    WORKER_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    DISPATCH_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_OWNER_FIELD_NUMBER: _ClassVar[int]
    worker: str
    epoch: int
    dispatch_sequence: int
    attempt: int
    traceparent: str
    previous_owner: OwnerFate
    def __init__(self, worker: _Optional[str] = ..., epoch: _Optional[int] = ..., dispatch_sequence: _Optional[int] = ..., attempt: _Optional[int] = ..., traceparent: _Optional[str] = ..., previous_owner: _Optional[_Union[OwnerFate, str]] = ...) -> None: ...

class RunParked(_message.Message):
    __slots__ = ("waiting_for", "wake_at")
    WAITING_FOR_FIELD_NUMBER: _ClassVar[int]
    WAKE_AT_FIELD_NUMBER: _ClassVar[int]
    waiting_for: _containers.RepeatedScalarFieldContainer[str]
    wake_at: _timestamp_pb2.Timestamp
    def __init__(self, waiting_for: _Optional[_Iterable[str]] = ..., wake_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RunPrepared(_message.Message):
    __slots__ = ("model", "capabilities", "tools", "scripted", "planning_model", "limits", "history", "recalled", "warnings", "planning_capabilities", "gated_tools", "retry", "fallbacks", "policy", "plan", "delegates", "skills", "passages", "retrieval")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    SCRIPTED_FIELD_NUMBER: _ClassVar[int]
    PLANNING_MODEL_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    HISTORY_FIELD_NUMBER: _ClassVar[int]
    RECALLED_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    PLANNING_CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    GATED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    RETRY_FIELD_NUMBER: _ClassVar[int]
    FALLBACKS_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    DELEGATES_FIELD_NUMBER: _ClassVar[int]
    SKILLS_FIELD_NUMBER: _ClassVar[int]
    PASSAGES_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_FIELD_NUMBER: _ClassVar[int]
    model: _model_spec_pb2.ModelSpec
    capabilities: _model_spec_pb2.ProviderCapabilities
    tools: _containers.RepeatedCompositeFieldContainer[_tool_pb2.ToolDescriptor]
    scripted: bool
    planning_model: _model_spec_pb2.ModelSpec
    limits: _agent_spec_pb2.Limits
    history: _containers.RepeatedCompositeFieldContainer[_history_pb2.HistoryMessage]
    recalled: _containers.RepeatedScalarFieldContainer[str]
    warnings: _containers.RepeatedScalarFieldContainer[str]
    planning_capabilities: _model_spec_pb2.ProviderCapabilities
    gated_tools: _containers.RepeatedScalarFieldContainer[str]
    retry: _agent_spec_pb2.RetryPolicy
    fallbacks: _containers.RepeatedCompositeFieldContainer[FallbackModel]
    policy: PolicyDecision
    plan: _resolution_plan_pb2.ResolutionPlan
    delegates: _containers.RepeatedCompositeFieldContainer[PreparedDelegate]
    skills: _containers.RepeatedCompositeFieldContainer[_skill_pb2.SkillDescriptor]
    passages: _containers.RepeatedCompositeFieldContainer[_knowledge_pb2.Passage]
    retrieval: _knowledge_pb2.Retrieval
    def __init__(self, model: _Optional[_Union[_model_spec_pb2.ModelSpec, _Mapping]] = ..., capabilities: _Optional[_Union[_model_spec_pb2.ProviderCapabilities, _Mapping]] = ..., tools: _Optional[_Iterable[_Union[_tool_pb2.ToolDescriptor, _Mapping]]] = ..., scripted: _Optional[bool] = ..., planning_model: _Optional[_Union[_model_spec_pb2.ModelSpec, _Mapping]] = ..., limits: _Optional[_Union[_agent_spec_pb2.Limits, _Mapping]] = ..., history: _Optional[_Iterable[_Union[_history_pb2.HistoryMessage, _Mapping]]] = ..., recalled: _Optional[_Iterable[str]] = ..., warnings: _Optional[_Iterable[str]] = ..., planning_capabilities: _Optional[_Union[_model_spec_pb2.ProviderCapabilities, _Mapping]] = ..., gated_tools: _Optional[_Iterable[str]] = ..., retry: _Optional[_Union[_agent_spec_pb2.RetryPolicy, _Mapping]] = ..., fallbacks: _Optional[_Iterable[_Union[FallbackModel, _Mapping]]] = ..., policy: _Optional[_Union[PolicyDecision, _Mapping]] = ..., plan: _Optional[_Union[_resolution_plan_pb2.ResolutionPlan, _Mapping]] = ..., delegates: _Optional[_Iterable[_Union[PreparedDelegate, _Mapping]]] = ..., skills: _Optional[_Iterable[_Union[_skill_pb2.SkillDescriptor, _Mapping]]] = ..., passages: _Optional[_Iterable[_Union[_knowledge_pb2.Passage, _Mapping]]] = ..., retrieval: _Optional[_Union[_knowledge_pb2.Retrieval, _Mapping]] = ...) -> None: ...

class PreparedDelegate(_message.Message):
    __slots__ = ("agent_id", "model", "capabilities", "tools", "shared_tools", "limits", "retry", "fallbacks", "gated_tools", "policy", "plan_hash", "revision", "skills")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    SHARED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    RETRY_FIELD_NUMBER: _ClassVar[int]
    FALLBACKS_FIELD_NUMBER: _ClassVar[int]
    GATED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    PLAN_HASH_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SKILLS_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    model: _model_spec_pb2.ModelSpec
    capabilities: _model_spec_pb2.ProviderCapabilities
    tools: _containers.RepeatedCompositeFieldContainer[_tool_pb2.ToolDescriptor]
    shared_tools: _containers.RepeatedScalarFieldContainer[str]
    limits: _agent_spec_pb2.Limits
    retry: _agent_spec_pb2.RetryPolicy
    fallbacks: _containers.RepeatedCompositeFieldContainer[FallbackModel]
    gated_tools: _containers.RepeatedScalarFieldContainer[str]
    policy: PolicyDecision
    plan_hash: str
    revision: int
    skills: _containers.RepeatedCompositeFieldContainer[_skill_pb2.SkillDescriptor]
    def __init__(self, agent_id: _Optional[str] = ..., model: _Optional[_Union[_model_spec_pb2.ModelSpec, _Mapping]] = ..., capabilities: _Optional[_Union[_model_spec_pb2.ProviderCapabilities, _Mapping]] = ..., tools: _Optional[_Iterable[_Union[_tool_pb2.ToolDescriptor, _Mapping]]] = ..., shared_tools: _Optional[_Iterable[str]] = ..., limits: _Optional[_Union[_agent_spec_pb2.Limits, _Mapping]] = ..., retry: _Optional[_Union[_agent_spec_pb2.RetryPolicy, _Mapping]] = ..., fallbacks: _Optional[_Iterable[_Union[FallbackModel, _Mapping]]] = ..., gated_tools: _Optional[_Iterable[str]] = ..., policy: _Optional[_Union[PolicyDecision, _Mapping]] = ..., plan_hash: _Optional[str] = ..., revision: _Optional[int] = ..., skills: _Optional[_Iterable[_Union[_skill_pb2.SkillDescriptor, _Mapping]]] = ...) -> None: ...

class PolicyDecision(_message.Message):
    __slots__ = ("rules", "withheld", "network_allow", "permissions")
    RULES_FIELD_NUMBER: _ClassVar[int]
    WITHHELD_FIELD_NUMBER: _ClassVar[int]
    NETWORK_ALLOW_FIELD_NUMBER: _ClassVar[int]
    PERMISSIONS_FIELD_NUMBER: _ClassVar[int]
    rules: _containers.RepeatedScalarFieldContainer[str]
    withheld: _containers.RepeatedCompositeFieldContainer[PolicyWithheld]
    network_allow: _containers.RepeatedScalarFieldContainer[str]
    permissions: _containers.RepeatedCompositeFieldContainer[PolicyPermission]
    def __init__(self, rules: _Optional[_Iterable[str]] = ..., withheld: _Optional[_Iterable[_Union[PolicyWithheld, _Mapping]]] = ..., network_allow: _Optional[_Iterable[str]] = ..., permissions: _Optional[_Iterable[_Union[PolicyPermission, _Mapping]]] = ...) -> None: ...

class PolicyPermission(_message.Message):
    __slots__ = ("policy_rule", "default_behavior", "rules")
    POLICY_RULE_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    policy_rule: str
    default_behavior: _tool_pb2.PermissionBehavior
    rules: _containers.RepeatedCompositeFieldContainer[_tool_pb2.PermissionRule]
    def __init__(self, policy_rule: _Optional[str] = ..., default_behavior: _Optional[_Union[_tool_pb2.PermissionBehavior, str]] = ..., rules: _Optional[_Iterable[_Union[_tool_pb2.PermissionRule, _Mapping]]] = ...) -> None: ...

class PolicyWithheld(_message.Message):
    __slots__ = ("kind", "name", "rule", "tool")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    kind: str
    name: str
    rule: str
    tool: str
    def __init__(self, kind: _Optional[str] = ..., name: _Optional[str] = ..., rule: _Optional[str] = ..., tool: _Optional[str] = ...) -> None: ...

class FallbackModel(_message.Message):
    __slots__ = ("model", "capabilities")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    model: _model_spec_pb2.ModelSpec
    capabilities: _model_spec_pb2.ProviderCapabilities
    def __init__(self, model: _Optional[_Union[_model_spec_pb2.ModelSpec, _Mapping]] = ..., capabilities: _Optional[_Union[_model_spec_pb2.ProviderCapabilities, _Mapping]] = ...) -> None: ...

class ModelCallStarted(_message.Message):
    __slots__ = ("attempt", "purpose", "reserved_usd", "input_tokens", "max_output_tokens", "request_digest", "tools_digest")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    RESERVED_USD_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    REQUEST_DIGEST_FIELD_NUMBER: _ClassVar[int]
    TOOLS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    attempt: int
    purpose: ModelCallPurpose
    reserved_usd: float
    input_tokens: int
    max_output_tokens: int
    request_digest: bytes
    tools_digest: bytes
    def __init__(self, attempt: _Optional[int] = ..., purpose: _Optional[_Union[ModelCallPurpose, str]] = ..., reserved_usd: _Optional[float] = ..., input_tokens: _Optional[int] = ..., max_output_tokens: _Optional[int] = ..., request_digest: _Optional[bytes] = ..., tools_digest: _Optional[bytes] = ...) -> None: ...

class ModelRetryDue(_message.Message):
    __slots__ = ("attempt",)
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    attempt: int
    def __init__(self, attempt: _Optional[int] = ...) -> None: ...

class TokensCounted(_message.Message):
    __slots__ = ("input_tokens", "error")
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    input_tokens: int
    error: str
    def __init__(self, input_tokens: _Optional[int] = ..., error: _Optional[str] = ...) -> None: ...

class WorkflowPrepared(_message.Message):
    __slots__ = ("own", "delegate_ids")
    OWN_FIELD_NUMBER: _ClassVar[int]
    DELEGATE_IDS_FIELD_NUMBER: _ClassVar[int]
    own: bool
    delegate_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, own: _Optional[bool] = ..., delegate_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class WorkflowContinued(_message.Message):
    __slots__ = ("run_id", "is_complete", "calls")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    IS_COMPLETE_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    is_complete: bool
    calls: int
    def __init__(self, run_id: _Optional[str] = ..., is_complete: _Optional[bool] = ..., calls: _Optional[int] = ...) -> None: ...

class MediaPrepared(_message.Message):
    __slots__ = ("agents",)
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    agents: _containers.RepeatedCompositeFieldContainer[AgentMedia]
    def __init__(self, agents: _Optional[_Iterable[_Union[AgentMedia, _Mapping]]] = ...) -> None: ...

class AgentMedia(_message.Message):
    __slots__ = ("agent_id", "image", "speech")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    SPEECH_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    image: _model_spec_pb2.ModelSpec
    speech: _model_spec_pb2.ModelSpec
    def __init__(self, agent_id: _Optional[str] = ..., image: _Optional[_Union[_model_spec_pb2.ModelSpec, _Mapping]] = ..., speech: _Optional[_Union[_model_spec_pb2.ModelSpec, _Mapping]] = ...) -> None: ...

class MediaCallStarted(_message.Message):
    __slots__ = ("call_id", "attempt", "reserved_usd", "model", "is_waiting")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    RESERVED_USD_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    IS_WAITING_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    attempt: int
    reserved_usd: float
    model: str
    is_waiting: bool
    def __init__(self, call_id: _Optional[str] = ..., attempt: _Optional[int] = ..., reserved_usd: _Optional[float] = ..., model: _Optional[str] = ..., is_waiting: _Optional[bool] = ...) -> None: ...

class MediaCallEnded(_message.Message):
    __slots__ = ("call_id", "attempt", "model", "files", "input_tokens", "output_tokens", "cost_usd", "failure", "may_be_billed")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    MAY_BE_BILLED_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    attempt: int
    model: str
    files: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    failure: str
    may_be_billed: bool
    def __init__(self, call_id: _Optional[str] = ..., attempt: _Optional[int] = ..., model: _Optional[str] = ..., files: _Optional[int] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cost_usd: _Optional[float] = ..., failure: _Optional[str] = ..., may_be_billed: _Optional[bool] = ...) -> None: ...

class RemoteTask(_message.Message):
    __slots__ = ("task_id", "context_id")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_ID_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    context_id: str
    def __init__(self, task_id: _Optional[str] = ..., context_id: _Optional[str] = ...) -> None: ...

class PluginsPinned(_message.Message):
    __slots__ = ("plugins",)
    PLUGINS_FIELD_NUMBER: _ClassVar[int]
    plugins: _containers.RepeatedCompositeFieldContainer[PinnedPlugin]
    def __init__(self, plugins: _Optional[_Iterable[_Union[PinnedPlugin, _Mapping]]] = ...) -> None: ...

class PinnedPlugin(_message.Message):
    __slots__ = ("plugin", "section", "guardrails", "delegate_ids")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    SECTION_FIELD_NUMBER: _ClassVar[int]
    GUARDRAILS_FIELD_NUMBER: _ClassVar[int]
    DELEGATE_IDS_FIELD_NUMBER: _ClassVar[int]
    plugin: _offered_plugin_pb2.OfferedPlugin
    section: _struct_pb2.Value
    guardrails: PinnedGuardrails
    delegate_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, plugin: _Optional[_Union[_offered_plugin_pb2.OfferedPlugin, _Mapping]] = ..., section: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., guardrails: _Optional[_Union[PinnedGuardrails, _Mapping]] = ..., delegate_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class PinnedGuardrails(_message.Message):
    __slots__ = ("sections", "models")
    SECTIONS_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    sections: _containers.RepeatedCompositeFieldContainer[GuardSection]
    models: _containers.RepeatedCompositeFieldContainer[GuardModel]
    def __init__(self, sections: _Optional[_Iterable[_Union[GuardSection, _Mapping]]] = ..., models: _Optional[_Iterable[_Union[GuardModel, _Mapping]]] = ...) -> None: ...

class GuardSection(_message.Message):
    __slots__ = ("policy_rule", "agent_id", "section")
    POLICY_RULE_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SECTION_FIELD_NUMBER: _ClassVar[int]
    policy_rule: str
    agent_id: str
    section: _struct_pb2.Value
    def __init__(self, policy_rule: _Optional[str] = ..., agent_id: _Optional[str] = ..., section: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ...) -> None: ...

class GuardModel(_message.Message):
    __slots__ = ("reference", "model")
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    reference: str
    model: _model_spec_pb2.ModelSpec
    def __init__(self, reference: _Optional[str] = ..., model: _Optional[_Union[_model_spec_pb2.ModelSpec, _Mapping]] = ...) -> None: ...

class PluginHookFinished(_message.Message):
    __slots__ = ("plugin_id", "phase", "hook_id", "call_id", "answer", "error", "attempts", "guards", "checked_whole")
    PLUGIN_ID_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    GUARDS_FIELD_NUMBER: _ClassVar[int]
    CHECKED_WHOLE_FIELD_NUMBER: _ClassVar[int]
    plugin_id: str
    phase: _plugin_pb2.HookPhase
    hook_id: str
    call_id: str
    answer: _plugin_pb2.RunHookResponse
    error: str
    attempts: int
    guards: _containers.RepeatedCompositeFieldContainer[GuardVerdict]
    checked_whole: bool
    def __init__(self, plugin_id: _Optional[str] = ..., phase: _Optional[_Union[_plugin_pb2.HookPhase, str]] = ..., hook_id: _Optional[str] = ..., call_id: _Optional[str] = ..., answer: _Optional[_Union[_plugin_pb2.RunHookResponse, _Mapping]] = ..., error: _Optional[str] = ..., attempts: _Optional[int] = ..., guards: _Optional[_Iterable[_Union[GuardVerdict, _Mapping]]] = ..., checked_whole: _Optional[bool] = ...) -> None: ...

class GuardVerdict(_message.Message):
    __slots__ = ("guard", "policy_rule", "agent_id", "target", "action", "reason", "redactions", "problem", "model", "usage")
    GUARD_FIELD_NUMBER: _ClassVar[int]
    POLICY_RULE_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REDACTIONS_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    guard: str
    policy_rule: str
    agent_id: str
    target: GuardTarget
    action: GuardAction
    reason: str
    redactions: _containers.RepeatedCompositeFieldContainer[TextRedaction]
    problem: str
    model: str
    usage: _approval_pb2.ReviewUsage
    def __init__(self, guard: _Optional[str] = ..., policy_rule: _Optional[str] = ..., agent_id: _Optional[str] = ..., target: _Optional[_Union[GuardTarget, str]] = ..., action: _Optional[_Union[GuardAction, str]] = ..., reason: _Optional[str] = ..., redactions: _Optional[_Iterable[_Union[TextRedaction, _Mapping]]] = ..., problem: _Optional[str] = ..., model: _Optional[str] = ..., usage: _Optional[_Union[_approval_pb2.ReviewUsage, _Mapping]] = ...) -> None: ...

class TextRedaction(_message.Message):
    __slots__ = ("text", "start", "end", "label")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    text: int
    start: int
    end: int
    label: str
    def __init__(self, text: _Optional[int] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., label: _Optional[str] = ...) -> None: ...

class RunEnding(_message.Message):
    __slots__ = ("status", "message")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    status: RunStatus
    message: str
    def __init__(self, status: _Optional[_Union[RunStatus, str]] = ..., message: _Optional[str] = ...) -> None: ...

class ToolCallStarted(_message.Message):
    __slots__ = ("call_id", "permission")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    permission: _tool_pb2.PermissionDecision
    def __init__(self, call_id: _Optional[str] = ..., permission: _Optional[_Union[_tool_pb2.PermissionDecision, _Mapping]] = ...) -> None: ...

class ClientCallChanged(_message.Message):
    __slots__ = ("call_id", "state", "name", "arguments", "deadline", "answered_by_person", "client_id", "subject", "content", "is_error", "structured", "answer_digest")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_BY_PERSON_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_FIELD_NUMBER: _ClassVar[int]
    ANSWER_DIGEST_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    state: ClientCallState
    name: str
    arguments: _struct_pb2.Struct
    deadline: _timestamp_pb2.Timestamp
    answered_by_person: bool
    client_id: str
    subject: str
    content: str
    is_error: bool
    structured: _struct_pb2.Struct
    answer_digest: bytes
    def __init__(self, call_id: _Optional[str] = ..., state: _Optional[_Union[ClientCallState, str]] = ..., name: _Optional[str] = ..., arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., deadline: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., answered_by_person: _Optional[bool] = ..., client_id: _Optional[str] = ..., subject: _Optional[str] = ..., content: _Optional[str] = ..., is_error: _Optional[bool] = ..., structured: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., answer_digest: _Optional[bytes] = ...) -> None: ...

class MemoryWritten(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: str
    def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class TodosChanged(_message.Message):
    __slots__ = ("todos",)
    TODOS_FIELD_NUMBER: _ClassVar[int]
    todos: _containers.RepeatedCompositeFieldContainer[Todo]
    def __init__(self, todos: _Optional[_Iterable[_Union[Todo, _Mapping]]] = ...) -> None: ...

class Todo(_message.Message):
    __slots__ = ("id", "text", "status")
    ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    id: int
    text: str
    status: TodoStatus
    def __init__(self, id: _Optional[int] = ..., text: _Optional[str] = ..., status: _Optional[_Union[TodoStatus, str]] = ...) -> None: ...

class TreeStored(_message.Message):
    __slots__ = ("tree",)
    TREE_FIELD_NUMBER: _ClassVar[int]
    tree: _execution_tree_pb2.ExecutionTree
    def __init__(self, tree: _Optional[_Union[_execution_tree_pb2.ExecutionTree, _Mapping]] = ...) -> None: ...

class ModelTurn(_message.Message):
    __slots__ = ("message_json", "provider_call_ids", "finish_reason", "call_ids", "format", "advisory", "context_tokens")
    MESSAGE_JSON_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_CALL_IDS_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    CALL_IDS_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    ADVISORY_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    message_json: bytes
    provider_call_ids: _containers.RepeatedScalarFieldContainer[str]
    finish_reason: str
    call_ids: _containers.RepeatedScalarFieldContainer[str]
    format: str
    advisory: str
    context_tokens: int
    def __init__(self, message_json: _Optional[bytes] = ..., provider_call_ids: _Optional[_Iterable[str]] = ..., finish_reason: _Optional[str] = ..., call_ids: _Optional[_Iterable[str]] = ..., format: _Optional[str] = ..., advisory: _Optional[str] = ..., context_tokens: _Optional[int] = ...) -> None: ...

class ModelCallFailed(_message.Message):
    __slots__ = ("reason", "message", "retryable", "retry_after", "retry_delay", "attempt", "provider", "answer_began", "fallback_model")
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RETRYABLE_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_FIELD_NUMBER: _ClassVar[int]
    RETRY_DELAY_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    ANSWER_BEGAN_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_MODEL_FIELD_NUMBER: _ClassVar[int]
    reason: str
    message: str
    retryable: bool
    retry_after: _duration_pb2.Duration
    retry_delay: _duration_pb2.Duration
    attempt: int
    provider: str
    answer_began: bool
    fallback_model: str
    def __init__(self, reason: _Optional[str] = ..., message: _Optional[str] = ..., retryable: _Optional[bool] = ..., retry_after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., retry_delay: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., attempt: _Optional[int] = ..., provider: _Optional[str] = ..., answer_began: _Optional[bool] = ..., fallback_model: _Optional[str] = ...) -> None: ...

class MessageSubmitted(_message.Message):
    __slots__ = ("message_id", "message", "submitted_by")
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    SUBMITTED_BY_FIELD_NUMBER: _ClassVar[int]
    message_id: str
    message: _message_pb2.Message
    submitted_by: str
    def __init__(self, message_id: _Optional[str] = ..., message: _Optional[_Union[_message_pb2.Message, _Mapping]] = ..., submitted_by: _Optional[str] = ...) -> None: ...

class CancelRequested(_message.Message):
    __slots__ = ("requested_by", "reason")
    REQUESTED_BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    requested_by: str
    reason: str
    def __init__(self, requested_by: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class RunBatch(_message.Message):
    __slots__ = ("first_sequence", "events", "previous_digest", "salt", "archive")
    FIRST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    SALT_FIELD_NUMBER: _ClassVar[int]
    ARCHIVE_FIELD_NUMBER: _ClassVar[int]
    first_sequence: int
    events: _containers.RepeatedCompositeFieldContainer[RunEvent]
    previous_digest: bytes
    salt: bytes
    archive: bytes
    def __init__(self, first_sequence: _Optional[int] = ..., events: _Optional[_Iterable[_Union[RunEvent, _Mapping]]] = ..., previous_digest: _Optional[bytes] = ..., salt: _Optional[bytes] = ..., archive: _Optional[bytes] = ...) -> None: ...

class Dispatch(_message.Message):
    __slots__ = ("tenant", "run_id", "after_sequence", "cancelled")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    run_id: str
    after_sequence: int
    cancelled: bool
    def __init__(self, tenant: _Optional[str] = ..., run_id: _Optional[str] = ..., after_sequence: _Optional[int] = ..., cancelled: _Optional[bool] = ...) -> None: ...
