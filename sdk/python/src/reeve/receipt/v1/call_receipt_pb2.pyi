import datetime

from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from reeve.access.v1 import role_pb2 as _role_pb2
from reeve.approval.v1 import approval_pb2 as _approval_pb2
from reeve.run.v1 import run_event_pb2 as _run_event_pb2
from reeve.tool.v1 import tool_pb2 as _tool_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CallReceipt(_message.Message):
    __slots__ = ("tenant", "run_id", "call_id", "requester", "call", "approvals", "decisions", "starts", "result", "log", "content_omitted", "end")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    REQUESTER_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    APPROVALS_FIELD_NUMBER: _ClassVar[int]
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    STARTS_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    CONTENT_OMITTED_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    run_id: str
    call_id: str
    requester: CallRequester
    call: ReceiptCall
    approvals: _containers.RepeatedCompositeFieldContainer[_approval_pb2.Approval]
    decisions: _containers.RepeatedCompositeFieldContainer[CastDecision]
    starts: _containers.RepeatedCompositeFieldContainer[CallStart]
    result: ReceiptResult
    log: ReceiptLog
    content_omitted: bool
    end: ReceiptEnd
    def __init__(self, tenant: _Optional[str] = ..., run_id: _Optional[str] = ..., call_id: _Optional[str] = ..., requester: _Optional[_Union[CallRequester, _Mapping]] = ..., call: _Optional[_Union[ReceiptCall, _Mapping]] = ..., approvals: _Optional[_Iterable[_Union[_approval_pb2.Approval, _Mapping]]] = ..., decisions: _Optional[_Iterable[_Union[CastDecision, _Mapping]]] = ..., starts: _Optional[_Iterable[_Union[CallStart, _Mapping]]] = ..., result: _Optional[_Union[ReceiptResult, _Mapping]] = ..., log: _Optional[_Union[ReceiptLog, _Mapping]] = ..., content_omitted: _Optional[bool] = ..., end: _Optional[_Union[ReceiptEnd, _Mapping]] = ...) -> None: ...

class ReceiptEnd(_message.Message):
    __slots__ = ("sequence", "recorded_at", "status")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    RECORDED_AT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    recorded_at: _timestamp_pb2.Timestamp
    status: _run_event_pb2.RunStatus
    def __init__(self, sequence: _Optional[int] = ..., recorded_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., status: _Optional[_Union[_run_event_pb2.RunStatus, str]] = ...) -> None: ...

class CallRequester(_message.Message):
    __slots__ = ("started_by", "started_by_roles", "started_at", "message_senders", "earlier_requesters", "agent_id", "agent_revision", "agent_spec_sha256", "agent_author", "thread_id", "parent_id", "origin", "policy_rules", "delegates")
    STARTED_BY_FIELD_NUMBER: _ClassVar[int]
    STARTED_BY_ROLES_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_SENDERS_FIELD_NUMBER: _ClassVar[int]
    EARLIER_REQUESTERS_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_REVISION_FIELD_NUMBER: _ClassVar[int]
    AGENT_SPEC_SHA256_FIELD_NUMBER: _ClassVar[int]
    AGENT_AUTHOR_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    POLICY_RULES_FIELD_NUMBER: _ClassVar[int]
    DELEGATES_FIELD_NUMBER: _ClassVar[int]
    started_by: str
    started_by_roles: _containers.RepeatedScalarFieldContainer[_role_pb2.Role]
    started_at: _timestamp_pb2.Timestamp
    message_senders: _containers.RepeatedScalarFieldContainer[str]
    earlier_requesters: _containers.RepeatedScalarFieldContainer[str]
    agent_id: str
    agent_revision: int
    agent_spec_sha256: str
    agent_author: str
    thread_id: str
    parent_id: str
    origin: _run_event_pb2.RunOrigin
    policy_rules: _containers.RepeatedScalarFieldContainer[str]
    delegates: _containers.RepeatedCompositeFieldContainer[ReceiptDelegate]
    def __init__(self, started_by: _Optional[str] = ..., started_by_roles: _Optional[_Iterable[_Union[_role_pb2.Role, str]]] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., message_senders: _Optional[_Iterable[str]] = ..., earlier_requesters: _Optional[_Iterable[str]] = ..., agent_id: _Optional[str] = ..., agent_revision: _Optional[int] = ..., agent_spec_sha256: _Optional[str] = ..., agent_author: _Optional[str] = ..., thread_id: _Optional[str] = ..., parent_id: _Optional[str] = ..., origin: _Optional[_Union[_run_event_pb2.RunOrigin, _Mapping]] = ..., policy_rules: _Optional[_Iterable[str]] = ..., delegates: _Optional[_Iterable[_Union[ReceiptDelegate, _Mapping]]] = ...) -> None: ...

class ReceiptDelegate(_message.Message):
    __slots__ = ("agent_id", "revision", "spec_sha256", "author")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SPEC_SHA256_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    revision: int
    spec_sha256: str
    author: str
    def __init__(self, agent_id: _Optional[str] = ..., revision: _Optional[int] = ..., spec_sha256: _Optional[str] = ..., author: _Optional[str] = ...) -> None: ...

class ReceiptCall(_message.Message):
    __slots__ = ("tool", "source", "arguments", "arguments_sha256", "arguments_edited", "model_arguments", "model_arguments_sha256", "injected_arguments", "injected_arguments_sha256")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_SHA256_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_EDITED_FIELD_NUMBER: _ClassVar[int]
    MODEL_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    MODEL_ARGUMENTS_SHA256_FIELD_NUMBER: _ClassVar[int]
    INJECTED_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    INJECTED_ARGUMENTS_SHA256_FIELD_NUMBER: _ClassVar[int]
    tool: str
    source: str
    arguments: _struct_pb2.Struct
    arguments_sha256: str
    arguments_edited: bool
    model_arguments: _struct_pb2.Struct
    model_arguments_sha256: str
    injected_arguments: _struct_pb2.Struct
    injected_arguments_sha256: str
    def __init__(self, tool: _Optional[str] = ..., source: _Optional[str] = ..., arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., arguments_sha256: _Optional[str] = ..., arguments_edited: _Optional[bool] = ..., model_arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., model_arguments_sha256: _Optional[str] = ..., injected_arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., injected_arguments_sha256: _Optional[str] = ...) -> None: ...

class CastDecision(_message.Message):
    __slots__ = ("sequence", "recorded_at", "approval_id", "decision", "is_vote", "counts_for", "state", "edited_arguments_sha256", "answer_sha256")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    RECORDED_AT_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    IS_VOTE_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FOR_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    EDITED_ARGUMENTS_SHA256_FIELD_NUMBER: _ClassVar[int]
    ANSWER_SHA256_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    recorded_at: _timestamp_pb2.Timestamp
    approval_id: str
    decision: _approval_pb2.Decision
    is_vote: bool
    counts_for: _containers.RepeatedScalarFieldContainer[str]
    state: _approval_pb2.ApprovalState
    edited_arguments_sha256: str
    answer_sha256: str
    def __init__(self, sequence: _Optional[int] = ..., recorded_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., approval_id: _Optional[str] = ..., decision: _Optional[_Union[_approval_pb2.Decision, _Mapping]] = ..., is_vote: _Optional[bool] = ..., counts_for: _Optional[_Iterable[str]] = ..., state: _Optional[_Union[_approval_pb2.ApprovalState, str]] = ..., edited_arguments_sha256: _Optional[str] = ..., answer_sha256: _Optional[str] = ...) -> None: ...

class CallStart(_message.Message):
    __slots__ = ("sequence", "started_at", "approval_id", "permission")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    started_at: _timestamp_pb2.Timestamp
    approval_id: str
    permission: _tool_pb2.PermissionDecision
    def __init__(self, sequence: _Optional[int] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., approval_id: _Optional[str] = ..., permission: _Optional[_Union[_tool_pb2.PermissionDecision, _Mapping]] = ...) -> None: ...

class ReceiptResult(_message.Message):
    __slots__ = ("sequence", "recorded_at", "status", "is_error", "content_sha256", "content_bytes", "structured_sha256", "offloaded_artifact_id", "bound_content_digest", "workspace_revision", "isolation", "end_reason", "started_at", "completed_at", "approval_status", "approval_id", "permission", "offloaded_artifact_sha256")
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    RECORDED_AT_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    CONTENT_SHA256_FIELD_NUMBER: _ClassVar[int]
    CONTENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_SHA256_FIELD_NUMBER: _ClassVar[int]
    OFFLOADED_ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    BOUND_CONTENT_DIGEST_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_REVISION_FIELD_NUMBER: _ClassVar[int]
    ISOLATION_FIELD_NUMBER: _ClassVar[int]
    END_REASON_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_AT_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_STATUS_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_FIELD_NUMBER: _ClassVar[int]
    OFFLOADED_ARTIFACT_SHA256_FIELD_NUMBER: _ClassVar[int]
    sequence: int
    recorded_at: _timestamp_pb2.Timestamp
    status: _tool_pb2.ToolStatus
    is_error: bool
    content_sha256: str
    content_bytes: int
    structured_sha256: str
    offloaded_artifact_id: str
    bound_content_digest: str
    workspace_revision: int
    isolation: str
    end_reason: str
    started_at: _timestamp_pb2.Timestamp
    completed_at: _timestamp_pb2.Timestamp
    approval_status: _tool_pb2.ApprovalStatus
    approval_id: str
    permission: _tool_pb2.PermissionDecision
    offloaded_artifact_sha256: str
    def __init__(self, sequence: _Optional[int] = ..., recorded_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., status: _Optional[_Union[_tool_pb2.ToolStatus, str]] = ..., is_error: _Optional[bool] = ..., content_sha256: _Optional[str] = ..., content_bytes: _Optional[int] = ..., structured_sha256: _Optional[str] = ..., offloaded_artifact_id: _Optional[str] = ..., bound_content_digest: _Optional[str] = ..., workspace_revision: _Optional[int] = ..., isolation: _Optional[str] = ..., end_reason: _Optional[str] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., completed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., approval_status: _Optional[_Union[_tool_pb2.ApprovalStatus, str]] = ..., approval_id: _Optional[str] = ..., permission: _Optional[_Union[_tool_pb2.PermissionDecision, _Mapping]] = ..., offloaded_artifact_sha256: _Optional[str] = ...) -> None: ...

class ReceiptLog(_message.Message):
    __slots__ = ("subject", "through_sequence", "digest", "chained_from")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    THROUGH_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    CHAINED_FROM_FIELD_NUMBER: _ClassVar[int]
    subject: str
    through_sequence: int
    digest: str
    chained_from: int
    def __init__(self, subject: _Optional[str] = ..., through_sequence: _Optional[int] = ..., digest: _Optional[str] = ..., chained_from: _Optional[int] = ...) -> None: ...
