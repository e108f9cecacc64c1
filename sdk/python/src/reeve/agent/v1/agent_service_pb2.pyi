import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from reeve.access.v1 import role_pb2 as _role_pb2
from reeve.agent.v1 import agent_spec_pb2 as _agent_spec_pb2
from reeve.agent.v1 import model_registry_pb2 as _model_registry_pb2
from reeve.agent.v1 import model_spec_pb2 as _model_spec_pb2
from reeve.agent.v1 import resolution_plan_pb2 as _resolution_plan_pb2
from reeve.agent.v1 import skill_pb2 as _skill_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ListModelsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListModelsResponse(_message.Message):
    __slots__ = ("models", "providers", "skills")
    MODELS_FIELD_NUMBER: _ClassVar[int]
    PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    SKILLS_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[_model_spec_pb2.ModelSpec]
    providers: _containers.RepeatedCompositeFieldContainer[_model_spec_pb2.ProviderDescriptor]
    skills: _containers.RepeatedCompositeFieldContainer[_skill_pb2.SkillDescriptor]
    def __init__(self, models: _Optional[_Iterable[_Union[_model_spec_pb2.ModelSpec, _Mapping]]] = ..., providers: _Optional[_Iterable[_Union[_model_spec_pb2.ProviderDescriptor, _Mapping]]] = ..., skills: _Optional[_Iterable[_Union[_skill_pb2.SkillDescriptor, _Mapping]]] = ...) -> None: ...

class Agent(_message.Message):
    __slots__ = ("spec", "revision", "created_at", "updated_at", "created_by", "managed_by")
    SPEC_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    MANAGED_BY_FIELD_NUMBER: _ClassVar[int]
    spec: _agent_spec_pb2.AgentSpec
    revision: int
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    created_by: str
    managed_by: str
    def __init__(self, spec: _Optional[_Union[_agent_spec_pb2.AgentSpec, _Mapping]] = ..., revision: _Optional[int] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., created_by: _Optional[str] = ..., managed_by: _Optional[str] = ...) -> None: ...

class SpecViolation(_message.Message):
    __slots__ = ("field", "description", "reason")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    field: str
    description: str
    reason: str
    def __init__(self, field: _Optional[str] = ..., description: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class CreateAgentRequest(_message.Message):
    __slots__ = ("spec", "managed_by")
    SPEC_FIELD_NUMBER: _ClassVar[int]
    MANAGED_BY_FIELD_NUMBER: _ClassVar[int]
    spec: _agent_spec_pb2.AgentSpec
    managed_by: str
    def __init__(self, spec: _Optional[_Union[_agent_spec_pb2.AgentSpec, _Mapping]] = ..., managed_by: _Optional[str] = ...) -> None: ...

class CreateAgentResponse(_message.Message):
    __slots__ = ("agent", "warnings")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    agent: Agent
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, agent: _Optional[_Union[Agent, _Mapping]] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class GetAgentRequest(_message.Message):
    __slots__ = ("agent_id",)
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    def __init__(self, agent_id: _Optional[str] = ...) -> None: ...

class GetAgentResponse(_message.Message):
    __slots__ = ("agent",)
    AGENT_FIELD_NUMBER: _ClassVar[int]
    agent: Agent
    def __init__(self, agent: _Optional[_Union[Agent, _Mapping]] = ...) -> None: ...

class ListAgentsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "has_workflow")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    HAS_WORKFLOW_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    has_workflow: bool
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., has_workflow: _Optional[bool] = ...) -> None: ...

class ListAgentsResponse(_message.Message):
    __slots__ = ("agents", "next_page_token")
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    agents: _containers.RepeatedCompositeFieldContainer[Agent]
    next_page_token: str
    def __init__(self, agents: _Optional[_Iterable[_Union[Agent, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListAgentRevisionsRequest(_message.Message):
    __slots__ = ("agent_id", "page_size", "page_token")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    page_size: int
    page_token: str
    def __init__(self, agent_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListAgentRevisionsResponse(_message.Message):
    __slots__ = ("revisions", "next_page_token")
    REVISIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    revisions: _containers.RepeatedCompositeFieldContainer[Agent]
    next_page_token: str
    def __init__(self, revisions: _Optional[_Iterable[_Union[Agent, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UpdateAgentRequest(_message.Message):
    __slots__ = ("spec", "revision", "managed_by")
    SPEC_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    MANAGED_BY_FIELD_NUMBER: _ClassVar[int]
    spec: _agent_spec_pb2.AgentSpec
    revision: int
    managed_by: str
    def __init__(self, spec: _Optional[_Union[_agent_spec_pb2.AgentSpec, _Mapping]] = ..., revision: _Optional[int] = ..., managed_by: _Optional[str] = ...) -> None: ...

class UpdateAgentResponse(_message.Message):
    __slots__ = ("agent", "warnings")
    AGENT_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    agent: Agent
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, agent: _Optional[_Union[Agent, _Mapping]] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class DeleteAgentRequest(_message.Message):
    __slots__ = ("agent_id", "revision", "managed_by")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    MANAGED_BY_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    revision: int
    managed_by: str
    def __init__(self, agent_id: _Optional[str] = ..., revision: _Optional[int] = ..., managed_by: _Optional[str] = ...) -> None: ...

class DeleteAgentResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ValidateAgentRequest(_message.Message):
    __slots__ = ("spec", "others", "registry")
    SPEC_FIELD_NUMBER: _ClassVar[int]
    OTHERS_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_FIELD_NUMBER: _ClassVar[int]
    spec: _agent_spec_pb2.AgentSpec
    others: _containers.RepeatedCompositeFieldContainer[_agent_spec_pb2.AgentSpec]
    registry: _model_registry_pb2.ModelRegistry
    def __init__(self, spec: _Optional[_Union[_agent_spec_pb2.AgentSpec, _Mapping]] = ..., others: _Optional[_Iterable[_Union[_agent_spec_pb2.AgentSpec, _Mapping]]] = ..., registry: _Optional[_Union[_model_registry_pb2.ModelRegistry, _Mapping]] = ...) -> None: ...

class ValidateAgentResponse(_message.Message):
    __slots__ = ("violations", "warnings", "normalized", "warning_details", "plan")
    VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    NORMALIZED_FIELD_NUMBER: _ClassVar[int]
    WARNING_DETAILS_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    violations: _containers.RepeatedCompositeFieldContainer[SpecViolation]
    warnings: _containers.RepeatedScalarFieldContainer[str]
    normalized: _agent_spec_pb2.AgentSpec
    warning_details: _containers.RepeatedCompositeFieldContainer[SpecViolation]
    plan: _resolution_plan_pb2.ResolutionPlan
    def __init__(self, violations: _Optional[_Iterable[_Union[SpecViolation, _Mapping]]] = ..., warnings: _Optional[_Iterable[str]] = ..., normalized: _Optional[_Union[_agent_spec_pb2.AgentSpec, _Mapping]] = ..., warning_details: _Optional[_Iterable[_Union[SpecViolation, _Mapping]]] = ..., plan: _Optional[_Union[_resolution_plan_pb2.ResolutionPlan, _Mapping]] = ...) -> None: ...

class ExplainAgentRequest(_message.Message):
    __slots__ = ("agent_id", "roles", "context", "subject", "memory_enabled", "thread_id")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ENABLED_FIELD_NUMBER: _ClassVar[int]
    THREAD_ID_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    roles: _containers.RepeatedScalarFieldContainer[_role_pb2.Role]
    context: str
    subject: str
    memory_enabled: bool
    thread_id: str
    def __init__(self, agent_id: _Optional[str] = ..., roles: _Optional[_Iterable[_Union[_role_pb2.Role, str]]] = ..., context: _Optional[str] = ..., subject: _Optional[str] = ..., memory_enabled: _Optional[bool] = ..., thread_id: _Optional[str] = ...) -> None: ...

class ExplainAgentResponse(_message.Message):
    __slots__ = ("entries", "limits", "policy_limits", "rules", "has_policy", "plan", "violations", "warnings", "callers", "deciders", "roles")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    POLICY_LIMITS_FIELD_NUMBER: _ClassVar[int]
    RULES_FIELD_NUMBER: _ClassVar[int]
    HAS_POLICY_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    CALLERS_FIELD_NUMBER: _ClassVar[int]
    DECIDERS_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[AccessExplanation]
    limits: _agent_spec_pb2.Limits
    policy_limits: _containers.RepeatedCompositeFieldContainer[PolicyLimit]
    rules: _containers.RepeatedScalarFieldContainer[str]
    has_policy: bool
    plan: _resolution_plan_pb2.ResolutionPlan
    violations: _containers.RepeatedCompositeFieldContainer[SpecViolation]
    warnings: _containers.RepeatedCompositeFieldContainer[SpecViolation]
    callers: _containers.RepeatedCompositeFieldContainer[ToolCallers]
    deciders: _containers.RepeatedScalarFieldContainer[str]
    roles: _containers.RepeatedScalarFieldContainer[_role_pb2.Role]
    def __init__(self, entries: _Optional[_Iterable[_Union[AccessExplanation, _Mapping]]] = ..., limits: _Optional[_Union[_agent_spec_pb2.Limits, _Mapping]] = ..., policy_limits: _Optional[_Iterable[_Union[PolicyLimit, _Mapping]]] = ..., rules: _Optional[_Iterable[str]] = ..., has_policy: _Optional[bool] = ..., plan: _Optional[_Union[_resolution_plan_pb2.ResolutionPlan, _Mapping]] = ..., violations: _Optional[_Iterable[_Union[SpecViolation, _Mapping]]] = ..., warnings: _Optional[_Iterable[_Union[SpecViolation, _Mapping]]] = ..., callers: _Optional[_Iterable[_Union[ToolCallers, _Mapping]]] = ..., deciders: _Optional[_Iterable[str]] = ..., roles: _Optional[_Iterable[_Union[_role_pb2.Role, str]]] = ...) -> None: ...

class ToolCallers(_message.Message):
    __slots__ = ("tool", "roles")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    tool: str
    roles: _containers.RepeatedScalarFieldContainer[_role_pb2.Role]
    def __init__(self, tool: _Optional[str] = ..., roles: _Optional[_Iterable[_Union[_role_pb2.Role, str]]] = ...) -> None: ...

class AccessExplanation(_message.Message):
    __slots__ = ("kind", "name", "allowed", "rule", "reason")
    KIND_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    kind: str
    name: str
    allowed: bool
    rule: str
    reason: str
    def __init__(self, kind: _Optional[str] = ..., name: _Optional[str] = ..., allowed: _Optional[bool] = ..., rule: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class PolicyLimit(_message.Message):
    __slots__ = ("field", "max", "rule")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    MAX_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    field: str
    max: float
    rule: str
    def __init__(self, field: _Optional[str] = ..., max: _Optional[float] = ..., rule: _Optional[str] = ...) -> None: ...
