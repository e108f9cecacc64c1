import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from reeve.tool.v1 import tool_pb2 as _tool_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CallerStandingKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CALLER_STANDING_KIND_UNSPECIFIED: _ClassVar[CallerStandingKind]
    CALLER_STANDING_KIND_MAY_DECIDE: _ClassVar[CallerStandingKind]
    CALLER_STANDING_KIND_MISSING_ROLE: _ClassVar[CallerStandingKind]
    CALLER_STANDING_KIND_EXCLUDED: _ClassVar[CallerStandingKind]
    CALLER_STANDING_KIND_NOT_NAMED: _ClassVar[CallerStandingKind]
    CALLER_STANDING_KIND_VOTED: _ClassVar[CallerStandingKind]

class ReviewAdvice(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REVIEW_ADVICE_UNSPECIFIED: _ClassVar[ReviewAdvice]
    REVIEW_ADVICE_APPROVE: _ClassVar[ReviewAdvice]
    REVIEW_ADVICE_REJECT: _ClassVar[ReviewAdvice]
    REVIEW_ADVICE_UNSURE: _ClassVar[ReviewAdvice]

class GateKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GATE_KIND_UNSPECIFIED: _ClassVar[GateKind]
    GATE_KIND_TOOL: _ClassVar[GateKind]
    GATE_KIND_TOOL_SOURCE: _ClassVar[GateKind]
    GATE_KIND_QUESTION: _ClassVar[GateKind]
    GATE_KIND_PERMISSION: _ClassVar[GateKind]
    GATE_KIND_PLUGIN: _ClassVar[GateKind]
    GATE_KIND_WORKFLOW: _ClassVar[GateKind]

class ApprovalSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    APPROVAL_SOURCE_UNSPECIFIED: _ClassVar[ApprovalSource]
    APPROVAL_SOURCE_RUN: _ClassVar[ApprovalSource]
    APPROVAL_SOURCE_WORKFLOW_RUN: _ClassVar[ApprovalSource]

class ApprovalState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    APPROVAL_STATE_UNSPECIFIED: _ClassVar[ApprovalState]
    APPROVAL_STATE_PENDING: _ClassVar[ApprovalState]
    APPROVAL_STATE_APPROVED: _ClassVar[ApprovalState]
    APPROVAL_STATE_REJECTED: _ClassVar[ApprovalState]
    APPROVAL_STATE_TIMED_OUT: _ClassVar[ApprovalState]
    APPROVAL_STATE_WITHDRAWN: _ClassVar[ApprovalState]
    APPROVAL_STATE_SUPERSEDED: _ClassVar[ApprovalState]

class GrantScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GRANT_SCOPE_UNSPECIFIED: _ClassVar[GrantScope]
    GRANT_SCOPE_RUN: _ClassVar[GrantScope]
    GRANT_SCOPE_THREAD: _ClassVar[GrantScope]
    GRANT_SCOPE_AGENT: _ClassVar[GrantScope]
CALLER_STANDING_KIND_UNSPECIFIED: CallerStandingKind
CALLER_STANDING_KIND_MAY_DECIDE: CallerStandingKind
CALLER_STANDING_KIND_MISSING_ROLE: CallerStandingKind
CALLER_STANDING_KIND_EXCLUDED: CallerStandingKind
CALLER_STANDING_KIND_NOT_NAMED: CallerStandingKind
CALLER_STANDING_KIND_VOTED: CallerStandingKind
REVIEW_ADVICE_UNSPECIFIED: ReviewAdvice
REVIEW_ADVICE_APPROVE: ReviewAdvice
REVIEW_ADVICE_REJECT: ReviewAdvice
REVIEW_ADVICE_UNSURE: ReviewAdvice
GATE_KIND_UNSPECIFIED: GateKind
GATE_KIND_TOOL: GateKind
GATE_KIND_TOOL_SOURCE: GateKind
GATE_KIND_QUESTION: GateKind
GATE_KIND_PERMISSION: GateKind
GATE_KIND_PLUGIN: GateKind
GATE_KIND_WORKFLOW: GateKind
APPROVAL_SOURCE_UNSPECIFIED: ApprovalSource
APPROVAL_SOURCE_RUN: ApprovalSource
APPROVAL_SOURCE_WORKFLOW_RUN: ApprovalSource
APPROVAL_STATE_UNSPECIFIED: ApprovalState
APPROVAL_STATE_PENDING: ApprovalState
APPROVAL_STATE_APPROVED: ApprovalState
APPROVAL_STATE_REJECTED: ApprovalState
APPROVAL_STATE_TIMED_OUT: ApprovalState
APPROVAL_STATE_WITHDRAWN: ApprovalState
APPROVAL_STATE_SUPERSEDED: ApprovalState
GRANT_SCOPE_UNSPECIFIED: GrantScope
GRANT_SCOPE_RUN: GrantScope
GRANT_SCOPE_THREAD: GrantScope
GRANT_SCOPE_AGENT: GrantScope

class Approval(_message.Message):
    __slots__ = ("approval_id", "run_id", "agent_id", "thread_id", "call", "requested_by", "requested_at", "expires_at", "state", "decision", "allow_edited_arguments", "parent_id", "question", "gates", "source", "call_digest", "permission", "content", "supersedes", "revision", "alternatives", "votes", "excluded_subjects", "decidable_after", "freeze", "escalations", "review", "comments", "assignment", "needs_passkey", "permission_class", "unseen_groups", "delegate_id", "calling_delegates", "plugin_reasons", "caller_standing")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_BY_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    DECISION_FIELD_NUMBER: _ClassVar[int]
    ALLOW_EDITED_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    GATES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    CALL_DIGEST_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDES_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    VOTES_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_SUBJECTS_FIELD_NUMBER: _ClassVar[int]
    DECIDABLE_AFTER_FIELD_NUMBER: _ClassVar[int]
    FREEZE_FIELD_NUMBER: _ClassVar[int]
    ESCALATIONS_FIELD_NUMBER: _ClassVar[int]
    REVIEW_FIELD_NUMBER: _ClassVar[int]
    COMMENTS_FIELD_NUMBER: _ClassVar[int]
    ASSIGNMENT_FIELD_NUMBER: _ClassVar[int]
    NEEDS_PASSKEY_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_CLASS_FIELD_NUMBER: _ClassVar[int]
    UNSEEN_GROUPS_FIELD_NUMBER: _ClassVar[int]
    DELEGATE_ID_FIELD_NUMBER: _ClassVar[int]
    CALLING_DELEGATES_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_REASONS_FIELD_NUMBER: _ClassVar[int]
    CALLER_STANDING_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    run_id: str
    agent_id: str
    thread_id: str
    call: _tool_pb2.ToolCall
    requested_by: str
    requested_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    state: ApprovalState
    decision: Decision
    allow_edited_arguments: bool
    parent_id: str
    question: _tool_pb2.Question
    gates: _containers.RepeatedScalarFieldContainer[GateKind]
    source: ApprovalSource
    call_digest: str
    permission: _tool_pb2.PermissionDecision
    content: _tool_pb2.BoundContent
    supersedes: str
    revision: int
    alternatives: _containers.RepeatedCompositeFieldContainer[Alternative]
    votes: _containers.RepeatedCompositeFieldContainer[Vote]
    excluded_subjects: _containers.RepeatedScalarFieldContainer[str]
    decidable_after: _timestamp_pb2.Timestamp
    freeze: ApprovalFreeze
    escalations: _containers.RepeatedCompositeFieldContainer[ApprovalEscalation]
    review: ApprovalReview
    comments: _containers.RepeatedCompositeFieldContainer[ApprovalComment]
    assignment: ApprovalAssignment
    needs_passkey: bool
    permission_class: _tool_pb2.PermissionClass
    unseen_groups: _containers.RepeatedScalarFieldContainer[str]
    delegate_id: str
    calling_delegates: _containers.RepeatedScalarFieldContainer[str]
    plugin_reasons: _containers.RepeatedScalarFieldContainer[str]
    caller_standing: CallerStanding
    def __init__(self, approval_id: _Optional[str] = ..., run_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., thread_id: _Optional[str] = ..., call: _Optional[_Union[_tool_pb2.ToolCall, _Mapping]] = ..., requested_by: _Optional[str] = ..., requested_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., state: _Optional[_Union[ApprovalState, str]] = ..., decision: _Optional[_Union[Decision, _Mapping]] = ..., allow_edited_arguments: _Optional[bool] = ..., parent_id: _Optional[str] = ..., question: _Optional[_Union[_tool_pb2.Question, _Mapping]] = ..., gates: _Optional[_Iterable[_Union[GateKind, str]]] = ..., source: _Optional[_Union[ApprovalSource, str]] = ..., call_digest: _Optional[str] = ..., permission: _Optional[_Union[_tool_pb2.PermissionDecision, _Mapping]] = ..., content: _Optional[_Union[_tool_pb2.BoundContent, _Mapping]] = ..., supersedes: _Optional[str] = ..., revision: _Optional[int] = ..., alternatives: _Optional[_Iterable[_Union[Alternative, _Mapping]]] = ..., votes: _Optional[_Iterable[_Union[Vote, _Mapping]]] = ..., excluded_subjects: _Optional[_Iterable[str]] = ..., decidable_after: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., freeze: _Optional[_Union[ApprovalFreeze, _Mapping]] = ..., escalations: _Optional[_Iterable[_Union[ApprovalEscalation, _Mapping]]] = ..., review: _Optional[_Union[ApprovalReview, _Mapping]] = ..., comments: _Optional[_Iterable[_Union[ApprovalComment, _Mapping]]] = ..., assignment: _Optional[_Union[ApprovalAssignment, _Mapping]] = ..., needs_passkey: _Optional[bool] = ..., permission_class: _Optional[_Union[_tool_pb2.PermissionClass, str]] = ..., unseen_groups: _Optional[_Iterable[str]] = ..., delegate_id: _Optional[str] = ..., calling_delegates: _Optional[_Iterable[str]] = ..., plugin_reasons: _Optional[_Iterable[str]] = ..., caller_standing: _Optional[_Union[CallerStanding, _Mapping]] = ...) -> None: ...

class CallerStanding(_message.Message):
    __slots__ = ("kind", "reason")
    KIND_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    kind: CallerStandingKind
    reason: str
    def __init__(self, kind: _Optional[_Union[CallerStandingKind, str]] = ..., reason: _Optional[str] = ...) -> None: ...

class WatchedGroup(_message.Message):
    __slots__ = ("tenant", "group", "watched_since", "last_seen_at")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    WATCHED_SINCE_FIELD_NUMBER: _ClassVar[int]
    LAST_SEEN_AT_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    group: str
    watched_since: _timestamp_pb2.Timestamp
    last_seen_at: _timestamp_pb2.Timestamp
    def __init__(self, tenant: _Optional[str] = ..., group: _Optional[str] = ..., watched_since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_seen_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ApprovalComment(_message.Message):
    __slots__ = ("comment_id", "text", "commented_by", "commented_at")
    COMMENT_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    COMMENTED_BY_FIELD_NUMBER: _ClassVar[int]
    COMMENTED_AT_FIELD_NUMBER: _ClassVar[int]
    comment_id: str
    text: str
    commented_by: str
    commented_at: _timestamp_pb2.Timestamp
    def __init__(self, comment_id: _Optional[str] = ..., text: _Optional[str] = ..., commented_by: _Optional[str] = ..., commented_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ApprovalAssignment(_message.Message):
    __slots__ = ("assignee", "assigned_by", "assigned_at")
    ASSIGNEE_FIELD_NUMBER: _ClassVar[int]
    ASSIGNED_BY_FIELD_NUMBER: _ClassVar[int]
    ASSIGNED_AT_FIELD_NUMBER: _ClassVar[int]
    assignee: str
    assigned_by: str
    assigned_at: _timestamp_pb2.Timestamp
    def __init__(self, assignee: _Optional[str] = ..., assigned_by: _Optional[str] = ..., assigned_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ApprovalReview(_message.Message):
    __slots__ = ("advice", "reason", "problem", "model", "reviewed_at", "revision", "usage", "rubric_sha256", "votes", "partial")
    ADVICE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    REVIEWED_AT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    RUBRIC_SHA256_FIELD_NUMBER: _ClassVar[int]
    VOTES_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_FIELD_NUMBER: _ClassVar[int]
    advice: ReviewAdvice
    reason: str
    problem: str
    model: str
    reviewed_at: _timestamp_pb2.Timestamp
    revision: int
    usage: ReviewUsage
    rubric_sha256: str
    votes: bool
    partial: bool
    def __init__(self, advice: _Optional[_Union[ReviewAdvice, str]] = ..., reason: _Optional[str] = ..., problem: _Optional[str] = ..., model: _Optional[str] = ..., reviewed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., revision: _Optional[int] = ..., usage: _Optional[_Union[ReviewUsage, _Mapping]] = ..., rubric_sha256: _Optional[str] = ..., votes: _Optional[bool] = ..., partial: _Optional[bool] = ...) -> None: ...

class ReviewUsage(_message.Message):
    __slots__ = ("input_tokens", "output_tokens", "cost_usd")
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    input_tokens: int
    output_tokens: int
    cost_usd: float
    def __init__(self, input_tokens: _Optional[int] = ..., output_tokens: _Optional[int] = ..., cost_usd: _Optional[float] = ...) -> None: ...

class ApprovalEscalation(_message.Message):
    __slots__ = ("due_at", "alternative", "escalated_at", "revision")
    DUE_AT_FIELD_NUMBER: _ClassVar[int]
    ALTERNATIVE_FIELD_NUMBER: _ClassVar[int]
    ESCALATED_AT_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    due_at: _timestamp_pb2.Timestamp
    alternative: Alternative
    escalated_at: _timestamp_pb2.Timestamp
    revision: int
    def __init__(self, due_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., alternative: _Optional[_Union[Alternative, _Mapping]] = ..., escalated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., revision: _Optional[int] = ...) -> None: ...

class ApprovalFreeze(_message.Message):
    __slots__ = ("name", "ends_at")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ENDS_AT_FIELD_NUMBER: _ClassVar[int]
    name: str
    ends_at: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., ends_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Alternative(_message.Message):
    __slots__ = ("name", "people", "groups", "approvals", "denials", "approvals_given", "denials_given", "filter", "reviewer")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PEOPLE_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    APPROVALS_FIELD_NUMBER: _ClassVar[int]
    DENIALS_FIELD_NUMBER: _ClassVar[int]
    APPROVALS_GIVEN_FIELD_NUMBER: _ClassVar[int]
    DENIALS_GIVEN_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    REVIEWER_FIELD_NUMBER: _ClassVar[int]
    name: str
    people: _containers.RepeatedScalarFieldContainer[str]
    groups: _containers.RepeatedScalarFieldContainer[str]
    approvals: int
    denials: int
    approvals_given: int
    denials_given: int
    filter: str
    reviewer: bool
    def __init__(self, name: _Optional[str] = ..., people: _Optional[_Iterable[str]] = ..., groups: _Optional[_Iterable[str]] = ..., approvals: _Optional[int] = ..., denials: _Optional[int] = ..., approvals_given: _Optional[int] = ..., denials_given: _Optional[int] = ..., filter: _Optional[str] = ..., reviewer: _Optional[bool] = ...) -> None: ...

class Vote(_message.Message):
    __slots__ = ("decision", "counts_for", "attempts", "earlier_decision_ids")
    DECISION_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FOR_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    EARLIER_DECISION_IDS_FIELD_NUMBER: _ClassVar[int]
    decision: Decision
    counts_for: _containers.RepeatedScalarFieldContainer[str]
    attempts: int
    earlier_decision_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, decision: _Optional[_Union[Decision, _Mapping]] = ..., counts_for: _Optional[_Iterable[str]] = ..., attempts: _Optional[int] = ..., earlier_decision_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("decision_id", "approved", "decided_by", "decided_at", "reason", "edited_arguments", "answer", "grant", "applied_grant", "break_glass", "step_up", "reviewer")
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    APPROVED_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    DECIDED_AT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    EDITED_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    GRANT_FIELD_NUMBER: _ClassVar[int]
    APPLIED_GRANT_FIELD_NUMBER: _ClassVar[int]
    BREAK_GLASS_FIELD_NUMBER: _ClassVar[int]
    STEP_UP_FIELD_NUMBER: _ClassVar[int]
    REVIEWER_FIELD_NUMBER: _ClassVar[int]
    decision_id: str
    approved: bool
    decided_by: str
    decided_at: _timestamp_pb2.Timestamp
    reason: str
    edited_arguments: _struct_pb2.Struct
    answer: _struct_pb2.Struct
    grant: Grant
    applied_grant: AppliedGrant
    break_glass: BreakGlassUse
    step_up: StepUp
    reviewer: ReviewerVote
    def __init__(self, decision_id: _Optional[str] = ..., approved: _Optional[bool] = ..., decided_by: _Optional[str] = ..., decided_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reason: _Optional[str] = ..., edited_arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., answer: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., grant: _Optional[_Union[Grant, _Mapping]] = ..., applied_grant: _Optional[_Union[AppliedGrant, _Mapping]] = ..., break_glass: _Optional[_Union[BreakGlassUse, _Mapping]] = ..., step_up: _Optional[_Union[StepUp, _Mapping]] = ..., reviewer: _Optional[_Union[ReviewerVote, _Mapping]] = ...) -> None: ...

class ReviewerVote(_message.Message):
    __slots__ = ("model", "rubric_sha256")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    RUBRIC_SHA256_FIELD_NUMBER: _ClassVar[int]
    model: str
    rubric_sha256: str
    def __init__(self, model: _Optional[str] = ..., rubric_sha256: _Optional[str] = ...) -> None: ...

class StepUp(_message.Message):
    __slots__ = ("credential_id", "verified_at")
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    VERIFIED_AT_FIELD_NUMBER: _ClassVar[int]
    credential_id: str
    verified_at: _timestamp_pb2.Timestamp
    def __init__(self, credential_id: _Optional[str] = ..., verified_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class BreakGlassUse(_message.Message):
    __slots__ = ("rule", "decidable_after", "freeze", "without_votes")
    RULE_FIELD_NUMBER: _ClassVar[int]
    DECIDABLE_AFTER_FIELD_NUMBER: _ClassVar[int]
    FREEZE_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_VOTES_FIELD_NUMBER: _ClassVar[int]
    rule: str
    decidable_after: _timestamp_pb2.Timestamp
    freeze: str
    without_votes: bool
    def __init__(self, rule: _Optional[str] = ..., decidable_after: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., freeze: _Optional[str] = ..., without_votes: _Optional[bool] = ...) -> None: ...

class Grant(_message.Message):
    __slots__ = ("grant_id", "scope", "rule", "agent_id", "agent_revision", "run_id", "thread_id", "approval_id", "granted_by", "granted_at", "expires_at", "max_uses", "alternatives", "uses", "revoked_by", "revoked_at", "spec_digest", "content_digest")
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_REVISION_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    GRANTED_BY_FIELD_NUMBER: _ClassVar[int]
    GRANTED_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    MAX_USES_FIELD_NUMBER: _ClassVar[int]
    ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    USES_FIELD_NUMBER: _ClassVar[int]
    REVOKED_BY_FIELD_NUMBER: _ClassVar[int]
    REVOKED_AT_FIELD_NUMBER: _ClassVar[int]
    SPEC_DIGEST_FIELD_NUMBER: _ClassVar[int]
    CONTENT_DIGEST_FIELD_NUMBER: _ClassVar[int]
    grant_id: str
    scope: GrantScope
    rule: str
    agent_id: str
    agent_revision: int
    run_id: str
    thread_id: str
    approval_id: str
    granted_by: str
    granted_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    max_uses: int
    alternatives: _containers.RepeatedScalarFieldContainer[str]
    uses: _containers.RepeatedCompositeFieldContainer[GrantUse]
    revoked_by: str
    revoked_at: _timestamp_pb2.Timestamp
    spec_digest: str
    content_digest: str
    def __init__(self, grant_id: _Optional[str] = ..., scope: _Optional[_Union[GrantScope, str]] = ..., rule: _Optional[str] = ..., agent_id: _Optional[str] = ..., agent_revision: _Optional[int] = ..., run_id: _Optional[str] = ..., thread_id: _Optional[str] = ..., approval_id: _Optional[str] = ..., granted_by: _Optional[str] = ..., granted_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., max_uses: _Optional[int] = ..., alternatives: _Optional[_Iterable[str]] = ..., uses: _Optional[_Iterable[_Union[GrantUse, _Mapping]]] = ..., revoked_by: _Optional[str] = ..., revoked_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., spec_digest: _Optional[str] = ..., content_digest: _Optional[str] = ...) -> None: ...

class GrantUse(_message.Message):
    __slots__ = ("approval_id", "run_id", "used_at")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    USED_AT_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    run_id: str
    used_at: _timestamp_pb2.Timestamp
    def __init__(self, approval_id: _Optional[str] = ..., run_id: _Optional[str] = ..., used_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class AppliedGrant(_message.Message):
    __slots__ = ("grant_id", "rule", "scope")
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    grant_id: str
    rule: str
    scope: GrantScope
    def __init__(self, grant_id: _Optional[str] = ..., rule: _Optional[str] = ..., scope: _Optional[_Union[GrantScope, str]] = ...) -> None: ...

class GrantRequest(_message.Message):
    __slots__ = ("scope", "rule", "max_uses", "lifetime")
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    MAX_USES_FIELD_NUMBER: _ClassVar[int]
    LIFETIME_FIELD_NUMBER: _ClassVar[int]
    scope: GrantScope
    rule: str
    max_uses: int
    lifetime: _duration_pb2.Duration
    def __init__(self, scope: _Optional[_Union[GrantScope, str]] = ..., rule: _Optional[str] = ..., max_uses: _Optional[int] = ..., lifetime: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ApprovalFilter(_message.Message):
    __slots__ = ("states", "agent_id", "tool", "thread_id", "requested_by", "for_me", "person", "group", "requested_after", "requested_before", "text", "assignee")
    STATES_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_BY_FIELD_NUMBER: _ClassVar[int]
    FOR_ME_FIELD_NUMBER: _ClassVar[int]
    PERSON_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_AFTER_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_BEFORE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    ASSIGNEE_FIELD_NUMBER: _ClassVar[int]
    states: _containers.RepeatedScalarFieldContainer[ApprovalState]
    agent_id: str
    tool: str
    thread_id: str
    requested_by: str
    for_me: bool
    person: str
    group: str
    requested_after: _timestamp_pb2.Timestamp
    requested_before: _timestamp_pb2.Timestamp
    text: str
    assignee: str
    def __init__(self, states: _Optional[_Iterable[_Union[ApprovalState, str]]] = ..., agent_id: _Optional[str] = ..., tool: _Optional[str] = ..., thread_id: _Optional[str] = ..., requested_by: _Optional[str] = ..., for_me: _Optional[bool] = ..., person: _Optional[str] = ..., group: _Optional[str] = ..., requested_after: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., requested_before: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., text: _Optional[str] = ..., assignee: _Optional[str] = ...) -> None: ...

class ListApprovalsRequest(_message.Message):
    __slots__ = ("run_id", "include_closed", "page_size", "page_token", "filter")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_CLOSED_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    include_closed: bool
    page_size: int
    page_token: str
    filter: ApprovalFilter
    def __init__(self, run_id: _Optional[str] = ..., include_closed: _Optional[bool] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., filter: _Optional[_Union[ApprovalFilter, _Mapping]] = ...) -> None: ...

class ListApprovalsResponse(_message.Message):
    __slots__ = ("approvals", "next_page_token")
    APPROVALS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    approvals: _containers.RepeatedCompositeFieldContainer[Approval]
    next_page_token: str
    def __init__(self, approvals: _Optional[_Iterable[_Union[Approval, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class CountApprovalsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CountApprovalsResponse(_message.Message):
    __slots__ = ("states", "agents", "tools", "waiting_for_me")
    STATES_FIELD_NUMBER: _ClassVar[int]
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    WAITING_FOR_ME_FIELD_NUMBER: _ClassVar[int]
    states: _containers.RepeatedCompositeFieldContainer[StateCount]
    agents: _containers.RepeatedCompositeFieldContainer[NamedCount]
    tools: _containers.RepeatedCompositeFieldContainer[NamedCount]
    waiting_for_me: ApprovalCount
    def __init__(self, states: _Optional[_Iterable[_Union[StateCount, _Mapping]]] = ..., agents: _Optional[_Iterable[_Union[NamedCount, _Mapping]]] = ..., tools: _Optional[_Iterable[_Union[NamedCount, _Mapping]]] = ..., waiting_for_me: _Optional[_Union[ApprovalCount, _Mapping]] = ...) -> None: ...

class ApprovalCount(_message.Message):
    __slots__ = ("count", "is_partial")
    COUNT_FIELD_NUMBER: _ClassVar[int]
    IS_PARTIAL_FIELD_NUMBER: _ClassVar[int]
    count: int
    is_partial: bool
    def __init__(self, count: _Optional[int] = ..., is_partial: _Optional[bool] = ...) -> None: ...

class StateCount(_message.Message):
    __slots__ = ("state", "count")
    STATE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    state: ApprovalState
    count: ApprovalCount
    def __init__(self, state: _Optional[_Union[ApprovalState, str]] = ..., count: _Optional[_Union[ApprovalCount, _Mapping]] = ...) -> None: ...

class NamedCount(_message.Message):
    __slots__ = ("name", "count")
    NAME_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    name: str
    count: ApprovalCount
    def __init__(self, name: _Optional[str] = ..., count: _Optional[_Union[ApprovalCount, _Mapping]] = ...) -> None: ...

class GetApprovalRequest(_message.Message):
    __slots__ = ("approval_id",)
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    def __init__(self, approval_id: _Optional[str] = ...) -> None: ...

class GetApprovalResponse(_message.Message):
    __slots__ = ("approval",)
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: Approval
    def __init__(self, approval: _Optional[_Union[Approval, _Mapping]] = ...) -> None: ...

class DecideApprovalRequest(_message.Message):
    __slots__ = ("approval_id", "approved", "reason", "decision_id", "edited_arguments", "answer", "call_digest", "grant", "break_glass", "confirmation")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    APPROVED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    EDITED_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    CALL_DIGEST_FIELD_NUMBER: _ClassVar[int]
    GRANT_FIELD_NUMBER: _ClassVar[int]
    BREAK_GLASS_FIELD_NUMBER: _ClassVar[int]
    CONFIRMATION_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    approved: bool
    reason: str
    decision_id: str
    edited_arguments: _struct_pb2.Struct
    answer: _struct_pb2.Struct
    call_digest: str
    grant: GrantRequest
    break_glass: bool
    confirmation: _struct_pb2.Struct
    def __init__(self, approval_id: _Optional[str] = ..., approved: _Optional[bool] = ..., reason: _Optional[str] = ..., decision_id: _Optional[str] = ..., edited_arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., answer: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., call_digest: _Optional[str] = ..., grant: _Optional[_Union[GrantRequest, _Mapping]] = ..., break_glass: _Optional[bool] = ..., confirmation: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class DecideApprovalResponse(_message.Message):
    __slots__ = ("approval",)
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: Approval
    def __init__(self, approval: _Optional[_Union[Approval, _Mapping]] = ...) -> None: ...

class ListSimilarDecisionsRequest(_message.Message):
    __slots__ = ("approval_id",)
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    def __init__(self, approval_id: _Optional[str] = ...) -> None: ...

class ListSimilarDecisionsResponse(_message.Message):
    __slots__ = ("decisions",)
    DECISIONS_FIELD_NUMBER: _ClassVar[int]
    decisions: _containers.RepeatedCompositeFieldContainer[SimilarDecision]
    def __init__(self, decisions: _Optional[_Iterable[_Union[SimilarDecision, _Mapping]]] = ...) -> None: ...

class SimilarDecision(_message.Message):
    __slots__ = ("approval_id", "run_id", "state", "decided_by", "decided_at", "reason", "same_arguments", "edited_arguments", "by_grant")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    DECIDED_AT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SAME_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    EDITED_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    BY_GRANT_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    run_id: str
    state: ApprovalState
    decided_by: str
    decided_at: _timestamp_pb2.Timestamp
    reason: str
    same_arguments: bool
    edited_arguments: bool
    by_grant: bool
    def __init__(self, approval_id: _Optional[str] = ..., run_id: _Optional[str] = ..., state: _Optional[_Union[ApprovalState, str]] = ..., decided_by: _Optional[str] = ..., decided_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reason: _Optional[str] = ..., same_arguments: _Optional[bool] = ..., edited_arguments: _Optional[bool] = ..., by_grant: _Optional[bool] = ...) -> None: ...

class CommentApprovalRequest(_message.Message):
    __slots__ = ("approval_id", "text", "comment_id")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    COMMENT_ID_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    text: str
    comment_id: str
    def __init__(self, approval_id: _Optional[str] = ..., text: _Optional[str] = ..., comment_id: _Optional[str] = ...) -> None: ...

class CommentApprovalResponse(_message.Message):
    __slots__ = ("approval",)
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: Approval
    def __init__(self, approval: _Optional[_Union[Approval, _Mapping]] = ...) -> None: ...

class AssignApprovalRequest(_message.Message):
    __slots__ = ("approval_id", "assignee")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    ASSIGNEE_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    assignee: str
    def __init__(self, approval_id: _Optional[str] = ..., assignee: _Optional[str] = ...) -> None: ...

class AssignApprovalResponse(_message.Message):
    __slots__ = ("approval",)
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: Approval
    def __init__(self, approval: _Optional[_Union[Approval, _Mapping]] = ...) -> None: ...

class DecideApprovalsRequest(_message.Message):
    __slots__ = ("decided", "approved", "reason", "decision_id")
    DECIDED_FIELD_NUMBER: _ClassVar[int]
    APPROVED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    decided: _containers.RepeatedCompositeFieldContainer[DecidedApproval]
    approved: bool
    reason: str
    decision_id: str
    def __init__(self, decided: _Optional[_Iterable[_Union[DecidedApproval, _Mapping]]] = ..., approved: _Optional[bool] = ..., reason: _Optional[str] = ..., decision_id: _Optional[str] = ...) -> None: ...

class DecidedApproval(_message.Message):
    __slots__ = ("approval_id", "call_digest")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_DIGEST_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    call_digest: str
    def __init__(self, approval_id: _Optional[str] = ..., call_digest: _Optional[str] = ...) -> None: ...

class DecideApprovalsResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[DecisionResult]
    def __init__(self, results: _Optional[_Iterable[_Union[DecisionResult, _Mapping]]] = ...) -> None: ...

class DecisionResult(_message.Message):
    __slots__ = ("approval_id", "run_id", "state", "error")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    run_id: str
    state: ApprovalState
    error: DecisionError
    def __init__(self, approval_id: _Optional[str] = ..., run_id: _Optional[str] = ..., state: _Optional[_Union[ApprovalState, str]] = ..., error: _Optional[_Union[DecisionError, _Mapping]] = ...) -> None: ...

class DecisionError(_message.Message):
    __slots__ = ("code", "reason", "message")
    CODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: str
    reason: str
    message: str
    def __init__(self, code: _Optional[str] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class AnswerQuestionRequest(_message.Message):
    __slots__ = ("approval_id", "answer", "declined", "reason", "decision_id")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    DECLINED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DECISION_ID_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    answer: _struct_pb2.Struct
    declined: bool
    reason: str
    decision_id: str
    def __init__(self, approval_id: _Optional[str] = ..., answer: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., declined: _Optional[bool] = ..., reason: _Optional[str] = ..., decision_id: _Optional[str] = ...) -> None: ...

class AnswerQuestionResponse(_message.Message):
    __slots__ = ("approval",)
    APPROVAL_FIELD_NUMBER: _ClassVar[int]
    approval: Approval
    def __init__(self, approval: _Optional[_Union[Approval, _Mapping]] = ...) -> None: ...

class ListGrantsRequest(_message.Message):
    __slots__ = ("agent_id", "run_id", "page_size", "page_token")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    run_id: str
    page_size: int
    page_token: str
    def __init__(self, agent_id: _Optional[str] = ..., run_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListGrantsResponse(_message.Message):
    __slots__ = ("grants", "next_page_token")
    GRANTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    grants: _containers.RepeatedCompositeFieldContainer[Grant]
    next_page_token: str
    def __init__(self, grants: _Optional[_Iterable[_Union[Grant, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class RevokeGrantRequest(_message.Message):
    __slots__ = ("grant_id",)
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    grant_id: str
    def __init__(self, grant_id: _Optional[str] = ...) -> None: ...

class RevokeGrantResponse(_message.Message):
    __slots__ = ("grant",)
    GRANT_FIELD_NUMBER: _ClassVar[int]
    grant: Grant
    def __init__(self, grant: _Optional[_Union[Grant, _Mapping]] = ...) -> None: ...

class WatchApprovalsRequest(_message.Message):
    __slots__ = ("run_id", "filter", "resume_token")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    filter: ApprovalFilter
    resume_token: str
    def __init__(self, run_id: _Optional[str] = ..., filter: _Optional[_Union[ApprovalFilter, _Mapping]] = ..., resume_token: _Optional[str] = ...) -> None: ...

class WatchApprovalsResponse(_message.Message):
    __slots__ = ("approvals", "resume_token")
    APPROVALS_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    approvals: _containers.RepeatedCompositeFieldContainer[Approval]
    resume_token: str
    def __init__(self, approvals: _Optional[_Iterable[_Union[Approval, _Mapping]]] = ..., resume_token: _Optional[str] = ...) -> None: ...
