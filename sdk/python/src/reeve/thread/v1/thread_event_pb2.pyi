import datetime

from google.protobuf import any_pb2 as _any_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from reeve.thread.v1 import execution_tree_pb2 as _execution_tree_pb2
from reeve.thread.v1 import history_pb2 as _history_pb2
from reeve.thread.v1 import thread_head_pb2 as _thread_head_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TurnOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TURN_OUTCOME_UNSPECIFIED: _ClassVar[TurnOutcome]
    TURN_OUTCOME_COMPLETED: _ClassVar[TurnOutcome]
    TURN_OUTCOME_ERROR: _ClassVar[TurnOutcome]
    TURN_OUTCOME_CANCELLED: _ClassVar[TurnOutcome]

class TurnIncompleteReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TURN_INCOMPLETE_REASON_UNSPECIFIED: _ClassVar[TurnIncompleteReason]
    TURN_INCOMPLETE_REASON_TRUNCATED: _ClassVar[TurnIncompleteReason]
    TURN_INCOMPLETE_REASON_FILTERED: _ClassVar[TurnIncompleteReason]
TURN_OUTCOME_UNSPECIFIED: TurnOutcome
TURN_OUTCOME_COMPLETED: TurnOutcome
TURN_OUTCOME_ERROR: TurnOutcome
TURN_OUTCOME_CANCELLED: TurnOutcome
TURN_INCOMPLETE_REASON_UNSPECIFIED: TurnIncompleteReason
TURN_INCOMPLETE_REASON_TRUNCATED: TurnIncompleteReason
TURN_INCOMPLETE_REASON_FILTERED: TurnIncompleteReason

class ThreadEvent(_message.Message):
    __slots__ = ("thread_id", "sequence", "time", "head", "turn_queued", "turn_started", "turn_ended", "thread_deleted")
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    HEAD_FIELD_NUMBER: _ClassVar[int]
    TURN_QUEUED_FIELD_NUMBER: _ClassVar[int]
    TURN_STARTED_FIELD_NUMBER: _ClassVar[int]
    TURN_ENDED_FIELD_NUMBER: _ClassVar[int]
    THREAD_DELETED_FIELD_NUMBER: _ClassVar[int]
    thread_id: str
    sequence: int
    time: _timestamp_pb2.Timestamp
    head: _thread_head_pb2.ThreadHead
    turn_queued: TurnQueued
    turn_started: TurnStarted
    turn_ended: TurnEnded
    thread_deleted: ThreadDeleted
    def __init__(self, thread_id: _Optional[str] = ..., sequence: _Optional[int] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., head: _Optional[_Union[_thread_head_pb2.ThreadHead, _Mapping]] = ..., turn_queued: _Optional[_Union[TurnQueued, _Mapping]] = ..., turn_started: _Optional[_Union[TurnStarted, _Mapping]] = ..., turn_ended: _Optional[_Union[TurnEnded, _Mapping]] = ..., thread_deleted: _Optional[_Union[ThreadDeleted, _Mapping]] = ...) -> None: ...

class TurnQueued(_message.Message):
    __slots__ = ("run_id", "run_created", "interrupts")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_CREATED_FIELD_NUMBER: _ClassVar[int]
    INTERRUPTS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    run_created: _any_pb2.Any
    interrupts: bool
    def __init__(self, run_id: _Optional[str] = ..., run_created: _Optional[_Union[_any_pb2.Any, _Mapping]] = ..., interrupts: _Optional[bool] = ...) -> None: ...

class TurnStarted(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class TurnEnded(_message.Message):
    __slots__ = ("run_id", "outcome", "messages", "output", "execution_tree", "cost", "error", "incomplete_reason", "omitted_output_bytes", "content_refused")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_TREE_FIELD_NUMBER: _ClassVar[int]
    COST_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    INCOMPLETE_REASON_FIELD_NUMBER: _ClassVar[int]
    OMITTED_OUTPUT_BYTES_FIELD_NUMBER: _ClassVar[int]
    CONTENT_REFUSED_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    outcome: TurnOutcome
    messages: _containers.RepeatedCompositeFieldContainer[_history_pb2.HistoryMessage]
    output: str
    execution_tree: _execution_tree_pb2.ExecutionTree
    cost: TurnCost
    error: str
    incomplete_reason: TurnIncompleteReason
    omitted_output_bytes: int
    content_refused: bool
    def __init__(self, run_id: _Optional[str] = ..., outcome: _Optional[_Union[TurnOutcome, str]] = ..., messages: _Optional[_Iterable[_Union[_history_pb2.HistoryMessage, _Mapping]]] = ..., output: _Optional[str] = ..., execution_tree: _Optional[_Union[_execution_tree_pb2.ExecutionTree, _Mapping]] = ..., cost: _Optional[_Union[TurnCost, _Mapping]] = ..., error: _Optional[str] = ..., incomplete_reason: _Optional[_Union[TurnIncompleteReason, str]] = ..., omitted_output_bytes: _Optional[int] = ..., content_refused: _Optional[bool] = ...) -> None: ...

class TurnCost(_message.Message):
    __slots__ = ("llm_calls", "tool_calls", "input_tokens", "output_tokens", "cost_usd", "subtasks")
    LLM_CALLS_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    SUBTASKS_FIELD_NUMBER: _ClassVar[int]
    llm_calls: int
    tool_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    subtasks: int
    def __init__(self, llm_calls: _Optional[int] = ..., tool_calls: _Optional[int] = ..., input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cost_usd: _Optional[float] = ..., subtasks: _Optional[int] = ...) -> None: ...

class ThreadDeleted(_message.Message):
    __slots__ = ("deleted_by",)
    DELETED_BY_FIELD_NUMBER: _ClassVar[int]
    deleted_by: str
    def __init__(self, deleted_by: _Optional[str] = ...) -> None: ...

class ThreadBatch(_message.Message):
    __slots__ = ("first_sequence", "events", "previous_digest", "salt")
    FIRST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    SALT_FIELD_NUMBER: _ClassVar[int]
    first_sequence: int
    events: _containers.RepeatedCompositeFieldContainer[ThreadEvent]
    previous_digest: bytes
    salt: bytes
    def __init__(self, first_sequence: _Optional[int] = ..., events: _Optional[_Iterable[_Union[ThreadEvent, _Mapping]]] = ..., previous_digest: _Optional[bytes] = ..., salt: _Optional[bytes] = ...) -> None: ...
