import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from reeve.workflow.v1 import workflow_pb2 as _workflow_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AgentSpec(_message.Message):
    __slots__ = ("id", "name", "model", "instructions", "max_rounds", "max_steps", "temperature", "max_tokens", "planning_enabled", "planning_model", "planning_instructions", "budget_awareness", "hitl_tools", "emit_mcp_progress", "injected_tool_args", "allow_parallel_subagents", "max_parallel_subagents", "plugin_ids", "sections", "context_policy", "delegates", "allowed_tools", "allowed_tool_patterns", "excluded_tools", "excluded_tool_patterns", "endpoint", "permission_classes", "budgets", "deep_agent", "mcp_servers", "approval_policy", "answer_policy", "retry", "fallback_models", "questions", "output_schema", "skills", "workflow", "collections", "media", "a2a")
    class InjectedToolArgsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class SectionsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _struct_pb2.Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    MAX_ROUNDS_FIELD_NUMBER: _ClassVar[int]
    MAX_STEPS_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    PLANNING_ENABLED_FIELD_NUMBER: _ClassVar[int]
    PLANNING_MODEL_FIELD_NUMBER: _ClassVar[int]
    PLANNING_INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    BUDGET_AWARENESS_FIELD_NUMBER: _ClassVar[int]
    HITL_TOOLS_FIELD_NUMBER: _ClassVar[int]
    EMIT_MCP_PROGRESS_FIELD_NUMBER: _ClassVar[int]
    INJECTED_TOOL_ARGS_FIELD_NUMBER: _ClassVar[int]
    ALLOW_PARALLEL_SUBAGENTS_FIELD_NUMBER: _ClassVar[int]
    MAX_PARALLEL_SUBAGENTS_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_IDS_FIELD_NUMBER: _ClassVar[int]
    SECTIONS_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_POLICY_FIELD_NUMBER: _ClassVar[int]
    DELEGATES_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_TOOL_PATTERNS_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_TOOL_PATTERNS_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_CLASSES_FIELD_NUMBER: _ClassVar[int]
    BUDGETS_FIELD_NUMBER: _ClassVar[int]
    DEEP_AGENT_FIELD_NUMBER: _ClassVar[int]
    MCP_SERVERS_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_POLICY_FIELD_NUMBER: _ClassVar[int]
    ANSWER_POLICY_FIELD_NUMBER: _ClassVar[int]
    RETRY_FIELD_NUMBER: _ClassVar[int]
    FALLBACK_MODELS_FIELD_NUMBER: _ClassVar[int]
    QUESTIONS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    SKILLS_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_FIELD_NUMBER: _ClassVar[int]
    COLLECTIONS_FIELD_NUMBER: _ClassVar[int]
    MEDIA_FIELD_NUMBER: _ClassVar[int]
    A2A_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    model: str
    instructions: str
    max_rounds: int
    max_steps: int
    temperature: float
    max_tokens: int
    planning_enabled: bool
    planning_model: str
    planning_instructions: str
    budget_awareness: str
    hitl_tools: _containers.RepeatedScalarFieldContainer[str]
    emit_mcp_progress: bool
    injected_tool_args: _containers.ScalarMap[str, str]
    allow_parallel_subagents: bool
    max_parallel_subagents: int
    plugin_ids: _containers.RepeatedScalarFieldContainer[str]
    sections: _containers.MessageMap[str, _struct_pb2.Value]
    context_policy: ContextPolicy
    delegates: _containers.RepeatedScalarFieldContainer[str]
    allowed_tools: _struct_pb2.ListValue
    allowed_tool_patterns: _struct_pb2.ListValue
    excluded_tools: _containers.RepeatedScalarFieldContainer[str]
    excluded_tool_patterns: _containers.RepeatedScalarFieldContainer[str]
    endpoint: Endpoint
    permission_classes: _containers.RepeatedScalarFieldContainer[str]
    budgets: Budgets
    deep_agent: DeepAgent
    mcp_servers: _containers.RepeatedScalarFieldContainer[str]
    approval_policy: ApprovalPolicy
    answer_policy: AnswerPolicy
    retry: RetryPolicy
    fallback_models: _containers.RepeatedScalarFieldContainer[str]
    questions: QuestionPolicy
    output_schema: _struct_pb2.Struct
    skills: _containers.RepeatedScalarFieldContainer[str]
    workflow: _workflow_pb2.Workflow
    collections: _containers.RepeatedScalarFieldContainer[str]
    media: MediaSettings
    a2a: A2aExposure
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., model: _Optional[str] = ..., instructions: _Optional[str] = ..., max_rounds: _Optional[int] = ..., max_steps: _Optional[int] = ..., temperature: _Optional[float] = ..., max_tokens: _Optional[int] = ..., planning_enabled: _Optional[bool] = ..., planning_model: _Optional[str] = ..., planning_instructions: _Optional[str] = ..., budget_awareness: _Optional[str] = ..., hitl_tools: _Optional[_Iterable[str]] = ..., emit_mcp_progress: _Optional[bool] = ..., injected_tool_args: _Optional[_Mapping[str, str]] = ..., allow_parallel_subagents: _Optional[bool] = ..., max_parallel_subagents: _Optional[int] = ..., plugin_ids: _Optional[_Iterable[str]] = ..., sections: _Optional[_Mapping[str, _struct_pb2.Value]] = ..., context_policy: _Optional[_Union[ContextPolicy, _Mapping]] = ..., delegates: _Optional[_Iterable[str]] = ..., allowed_tools: _Optional[_Union[_struct_pb2.ListValue, _Mapping]] = ..., allowed_tool_patterns: _Optional[_Union[_struct_pb2.ListValue, _Mapping]] = ..., excluded_tools: _Optional[_Iterable[str]] = ..., excluded_tool_patterns: _Optional[_Iterable[str]] = ..., endpoint: _Optional[_Union[Endpoint, _Mapping]] = ..., permission_classes: _Optional[_Iterable[str]] = ..., budgets: _Optional[_Union[Budgets, _Mapping]] = ..., deep_agent: _Optional[_Union[DeepAgent, _Mapping]] = ..., mcp_servers: _Optional[_Iterable[str]] = ..., approval_policy: _Optional[_Union[ApprovalPolicy, _Mapping]] = ..., answer_policy: _Optional[_Union[AnswerPolicy, _Mapping]] = ..., retry: _Optional[_Union[RetryPolicy, _Mapping]] = ..., fallback_models: _Optional[_Iterable[str]] = ..., questions: _Optional[_Union[QuestionPolicy, _Mapping]] = ..., output_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., skills: _Optional[_Iterable[str]] = ..., workflow: _Optional[_Union[_workflow_pb2.Workflow, _Mapping]] = ..., collections: _Optional[_Iterable[str]] = ..., media: _Optional[_Union[MediaSettings, _Mapping]] = ..., a2a: _Optional[_Union[A2aExposure, _Mapping]] = ...) -> None: ...

class A2aExposure(_message.Message):
    __slots__ = ("enabled", "description", "skills")
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    SKILLS_FIELD_NUMBER: _ClassVar[int]
    enabled: bool
    description: str
    skills: _containers.RepeatedCompositeFieldContainer[A2aSkill]
    def __init__(self, enabled: _Optional[bool] = ..., description: _Optional[str] = ..., skills: _Optional[_Iterable[_Union[A2aSkill, _Mapping]]] = ...) -> None: ...

class A2aSkill(_message.Message):
    __slots__ = ("id", "name", "description", "tags", "examples")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    EXAMPLES_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    description: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    examples: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., description: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., examples: _Optional[_Iterable[str]] = ...) -> None: ...

class MediaSettings(_message.Message):
    __slots__ = ("image_model", "speech_model")
    IMAGE_MODEL_FIELD_NUMBER: _ClassVar[int]
    SPEECH_MODEL_FIELD_NUMBER: _ClassVar[int]
    image_model: str
    speech_model: str
    def __init__(self, image_model: _Optional[str] = ..., speech_model: _Optional[str] = ...) -> None: ...

class QuestionPolicy(_message.Message):
    __slots__ = ("timeout", "people", "groups")
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    PEOPLE_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    timeout: _duration_pb2.Duration
    people: _containers.RepeatedScalarFieldContainer[str]
    groups: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., people: _Optional[_Iterable[str]] = ..., groups: _Optional[_Iterable[str]] = ...) -> None: ...

class RetryPolicy(_message.Message):
    __slots__ = ("max_retries", "max_elapsed", "initial_backoff", "max_backoff")
    MAX_RETRIES_FIELD_NUMBER: _ClassVar[int]
    MAX_ELAPSED_FIELD_NUMBER: _ClassVar[int]
    INITIAL_BACKOFF_FIELD_NUMBER: _ClassVar[int]
    MAX_BACKOFF_FIELD_NUMBER: _ClassVar[int]
    max_retries: int
    max_elapsed: _duration_pb2.Duration
    initial_backoff: _duration_pb2.Duration
    max_backoff: _duration_pb2.Duration
    def __init__(self, max_retries: _Optional[int] = ..., max_elapsed: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., initial_backoff: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., max_backoff: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class AnswerPolicy(_message.Message):
    __slots__ = ("truncated", "filtered", "max_continuations")
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    FILTERED_FIELD_NUMBER: _ClassVar[int]
    MAX_CONTINUATIONS_FIELD_NUMBER: _ClassVar[int]
    truncated: str
    filtered: str
    max_continuations: int
    def __init__(self, truncated: _Optional[str] = ..., filtered: _Optional[str] = ..., max_continuations: _Optional[int] = ...) -> None: ...

class ContextPolicy(_message.Message):
    __slots__ = ("compact_at_tokens",)
    COMPACT_AT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    compact_at_tokens: int
    def __init__(self, compact_at_tokens: _Optional[int] = ...) -> None: ...

class Endpoint(_message.Message):
    __slots__ = ("url", "protocol")
    URL_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    url: str
    protocol: str
    def __init__(self, url: _Optional[str] = ..., protocol: _Optional[str] = ...) -> None: ...

class Budgets(_message.Message):
    __slots__ = ("max_depth", "max_parallel", "max_subtasks", "max_llm_calls", "max_tool_calls", "max_wall_clock", "max_result_bytes", "max_history_tokens", "max_total_tokens", "max_total_bytes", "max_cost_usd")
    MAX_DEPTH_FIELD_NUMBER: _ClassVar[int]
    MAX_PARALLEL_FIELD_NUMBER: _ClassVar[int]
    MAX_SUBTASKS_FIELD_NUMBER: _ClassVar[int]
    MAX_LLM_CALLS_FIELD_NUMBER: _ClassVar[int]
    MAX_TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    MAX_WALL_CLOCK_FIELD_NUMBER: _ClassVar[int]
    MAX_RESULT_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_HISTORY_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_TOTAL_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_TOTAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_COST_USD_FIELD_NUMBER: _ClassVar[int]
    max_depth: int
    max_parallel: int
    max_subtasks: int
    max_llm_calls: int
    max_tool_calls: int
    max_wall_clock: _duration_pb2.Duration
    max_result_bytes: int
    max_history_tokens: int
    max_total_tokens: int
    max_total_bytes: int
    max_cost_usd: float
    def __init__(self, max_depth: _Optional[int] = ..., max_parallel: _Optional[int] = ..., max_subtasks: _Optional[int] = ..., max_llm_calls: _Optional[int] = ..., max_tool_calls: _Optional[int] = ..., max_wall_clock: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., max_result_bytes: _Optional[int] = ..., max_history_tokens: _Optional[int] = ..., max_total_tokens: _Optional[int] = ..., max_total_bytes: _Optional[int] = ..., max_cost_usd: _Optional[float] = ...) -> None: ...

class Limits(_message.Message):
    __slots__ = ("budgets", "max_rounds")
    BUDGETS_FIELD_NUMBER: _ClassVar[int]
    MAX_ROUNDS_FIELD_NUMBER: _ClassVar[int]
    budgets: Budgets
    max_rounds: int
    def __init__(self, budgets: _Optional[_Union[Budgets, _Mapping]] = ..., max_rounds: _Optional[int] = ...) -> None: ...

class DeepAgent(_message.Message):
    __slots__ = ("filesystem", "terminal", "code", "planning", "allowed_imports", "command_blacklist", "code_timeout", "command_timeout", "read_only", "network", "workspace_scope", "pool")
    FILESYSTEM_FIELD_NUMBER: _ClassVar[int]
    TERMINAL_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    PLANNING_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_IMPORTS_FIELD_NUMBER: _ClassVar[int]
    COMMAND_BLACKLIST_FIELD_NUMBER: _ClassVar[int]
    CODE_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    COMMAND_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    READ_ONLY_FIELD_NUMBER: _ClassVar[int]
    NETWORK_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_SCOPE_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    filesystem: bool
    terminal: bool
    code: bool
    planning: bool
    allowed_imports: _struct_pb2.ListValue
    command_blacklist: _struct_pb2.ListValue
    code_timeout: _duration_pb2.Duration
    command_timeout: _duration_pb2.Duration
    read_only: bool
    network: NetworkAccess
    workspace_scope: str
    pool: str
    def __init__(self, filesystem: _Optional[bool] = ..., terminal: _Optional[bool] = ..., code: _Optional[bool] = ..., planning: _Optional[bool] = ..., allowed_imports: _Optional[_Union[_struct_pb2.ListValue, _Mapping]] = ..., command_blacklist: _Optional[_Union[_struct_pb2.ListValue, _Mapping]] = ..., code_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., command_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., read_only: _Optional[bool] = ..., network: _Optional[_Union[NetworkAccess, _Mapping]] = ..., workspace_scope: _Optional[str] = ..., pool: _Optional[str] = ...) -> None: ...

class NetworkAccess(_message.Message):
    __slots__ = ("allow", "credentials")
    ALLOW_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    allow: _containers.RepeatedScalarFieldContainer[str]
    credentials: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, allow: _Optional[_Iterable[str]] = ..., credentials: _Optional[_Iterable[str]] = ...) -> None: ...

class ApprovalPolicy(_message.Message):
    __slots__ = ("timeout", "allow_edited_arguments", "alternatives", "exclude_requester", "exclude_author", "waits", "escalations", "break_glass", "reviewer", "step_up")
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    ALLOW_EDITED_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    EXCLUDE_REQUESTER_FIELD_NUMBER: _ClassVar[int]
    EXCLUDE_AUTHOR_FIELD_NUMBER: _ClassVar[int]
    WAITS_FIELD_NUMBER: _ClassVar[int]
    ESCALATIONS_FIELD_NUMBER: _ClassVar[int]
    BREAK_GLASS_FIELD_NUMBER: _ClassVar[int]
    REVIEWER_FIELD_NUMBER: _ClassVar[int]
    STEP_UP_FIELD_NUMBER: _ClassVar[int]
    timeout: _duration_pb2.Duration
    allow_edited_arguments: bool
    alternatives: _containers.RepeatedCompositeFieldContainer[DecisionAlternative]
    exclude_requester: bool
    exclude_author: bool
    waits: _containers.RepeatedCompositeFieldContainer[ApprovalWait]
    escalations: _containers.RepeatedCompositeFieldContainer[Escalation]
    break_glass: BreakGlass
    reviewer: Reviewer
    step_up: StepUpPolicy
    def __init__(self, timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., allow_edited_arguments: _Optional[bool] = ..., alternatives: _Optional[_Iterable[_Union[DecisionAlternative, _Mapping]]] = ..., exclude_requester: _Optional[bool] = ..., exclude_author: _Optional[bool] = ..., waits: _Optional[_Iterable[_Union[ApprovalWait, _Mapping]]] = ..., escalations: _Optional[_Iterable[_Union[Escalation, _Mapping]]] = ..., break_glass: _Optional[_Union[BreakGlass, _Mapping]] = ..., reviewer: _Optional[_Union[Reviewer, _Mapping]] = ..., step_up: _Optional[_Union[StepUpPolicy, _Mapping]] = ...) -> None: ...

class StepUpPolicy(_message.Message):
    __slots__ = ("tools", "classes")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    CLASSES_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedScalarFieldContainer[str]
    classes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, tools: _Optional[_Iterable[str]] = ..., classes: _Optional[_Iterable[str]] = ...) -> None: ...

class Reviewer(_message.Message):
    __slots__ = ("rubric", "tools", "votes")
    RUBRIC_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    VOTES_FIELD_NUMBER: _ClassVar[int]
    rubric: str
    tools: _containers.RepeatedScalarFieldContainer[str]
    votes: ReviewerVotes
    def __init__(self, rubric: _Optional[str] = ..., tools: _Optional[_Iterable[str]] = ..., votes: _Optional[_Union[ReviewerVotes, _Mapping]] = ...) -> None: ...

class ReviewerVotes(_message.Message):
    __slots__ = ("classes", "rejects_only")
    CLASSES_FIELD_NUMBER: _ClassVar[int]
    REJECTS_ONLY_FIELD_NUMBER: _ClassVar[int]
    classes: _containers.RepeatedScalarFieldContainer[str]
    rejects_only: bool
    def __init__(self, classes: _Optional[_Iterable[str]] = ..., rejects_only: _Optional[bool] = ...) -> None: ...

class BreakGlass(_message.Message):
    __slots__ = ("people", "groups", "min_reason_length", "allow_requester")
    PEOPLE_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    MIN_REASON_LENGTH_FIELD_NUMBER: _ClassVar[int]
    ALLOW_REQUESTER_FIELD_NUMBER: _ClassVar[int]
    people: _containers.RepeatedScalarFieldContainer[str]
    groups: _containers.RepeatedScalarFieldContainer[str]
    min_reason_length: int
    allow_requester: bool
    def __init__(self, people: _Optional[_Iterable[str]] = ..., groups: _Optional[_Iterable[str]] = ..., min_reason_length: _Optional[int] = ..., allow_requester: _Optional[bool] = ...) -> None: ...

class Escalation(_message.Message):
    __slots__ = ("after", "alternative")
    AFTER_FIELD_NUMBER: _ClassVar[int]
    ALTERNATIVE_FIELD_NUMBER: _ClassVar[int]
    after: _duration_pb2.Duration
    alternative: DecisionAlternative
    def __init__(self, after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., alternative: _Optional[_Union[DecisionAlternative, _Mapping]] = ...) -> None: ...

class ApprovalWait(_message.Message):
    __slots__ = ("tools", "wait")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedScalarFieldContainer[str]
    wait: _duration_pb2.Duration
    def __init__(self, tools: _Optional[_Iterable[str]] = ..., wait: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class DecisionAlternative(_message.Message):
    __slots__ = ("name", "filter", "people", "groups", "approvals", "denials", "reviewer")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    PEOPLE_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    APPROVALS_FIELD_NUMBER: _ClassVar[int]
    DENIALS_FIELD_NUMBER: _ClassVar[int]
    REVIEWER_FIELD_NUMBER: _ClassVar[int]
    name: str
    filter: str
    people: _containers.RepeatedScalarFieldContainer[str]
    groups: _containers.RepeatedScalarFieldContainer[str]
    approvals: int
    denials: int
    reviewer: bool
    def __init__(self, name: _Optional[str] = ..., filter: _Optional[str] = ..., people: _Optional[_Iterable[str]] = ..., groups: _Optional[_Iterable[str]] = ..., approvals: _Optional[int] = ..., denials: _Optional[int] = ..., reviewer: _Optional[bool] = ...) -> None: ...
