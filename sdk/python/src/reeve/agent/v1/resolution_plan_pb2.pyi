from reeve.agent.v1 import agent_spec_pb2 as _agent_spec_pb2
from reeve.agent.v1 import skill_pb2 as _skill_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ResolutionPlan(_message.Message):
    __slots__ = ("plugins", "tools", "excluded_tools", "excluded_count", "models", "limits", "hash", "omitted_call_rules", "omitted_tools", "delegates", "skills", "nodes")
    PLUGINS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_COUNT_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    OMITTED_CALL_RULES_FIELD_NUMBER: _ClassVar[int]
    OMITTED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    DELEGATES_FIELD_NUMBER: _ClassVar[int]
    SKILLS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    plugins: _containers.RepeatedCompositeFieldContainer[PlannedPlugin]
    tools: _containers.RepeatedCompositeFieldContainer[PlannedTool]
    excluded_tools: _containers.RepeatedCompositeFieldContainer[ExcludedTool]
    excluded_count: int
    models: _containers.RepeatedCompositeFieldContainer[PlannedModel]
    limits: _agent_spec_pb2.Limits
    hash: str
    omitted_call_rules: int
    omitted_tools: int
    delegates: _containers.RepeatedCompositeFieldContainer[PlannedDelegate]
    skills: _containers.RepeatedCompositeFieldContainer[_skill_pb2.SkillDescriptor]
    nodes: _containers.RepeatedCompositeFieldContainer[PlannedNode]
    def __init__(self, plugins: _Optional[_Iterable[_Union[PlannedPlugin, _Mapping]]] = ..., tools: _Optional[_Iterable[_Union[PlannedTool, _Mapping]]] = ..., excluded_tools: _Optional[_Iterable[_Union[ExcludedTool, _Mapping]]] = ..., excluded_count: _Optional[int] = ..., models: _Optional[_Iterable[_Union[PlannedModel, _Mapping]]] = ..., limits: _Optional[_Union[_agent_spec_pb2.Limits, _Mapping]] = ..., hash: _Optional[str] = ..., omitted_call_rules: _Optional[int] = ..., omitted_tools: _Optional[int] = ..., delegates: _Optional[_Iterable[_Union[PlannedDelegate, _Mapping]]] = ..., skills: _Optional[_Iterable[_Union[_skill_pb2.SkillDescriptor, _Mapping]]] = ..., nodes: _Optional[_Iterable[_Union[PlannedNode, _Mapping]]] = ...) -> None: ...

class PlannedNode(_message.Message):
    __slots__ = ("id", "type", "tool", "after")
    ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    id: str
    type: str
    tool: str
    after: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[str] = ..., type: _Optional[str] = ..., tool: _Optional[str] = ..., after: _Optional[_Iterable[str]] = ...) -> None: ...

class PlannedDelegate(_message.Message):
    __slots__ = ("agent_id", "revision", "models", "tools", "plan_hash")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    PLAN_HASH_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    revision: int
    models: _containers.RepeatedCompositeFieldContainer[PlannedModel]
    tools: _containers.RepeatedScalarFieldContainer[str]
    plan_hash: str
    def __init__(self, agent_id: _Optional[str] = ..., revision: _Optional[int] = ..., models: _Optional[_Iterable[_Union[PlannedModel, _Mapping]]] = ..., tools: _Optional[_Iterable[str]] = ..., plan_hash: _Optional[str] = ...) -> None: ...

class PlannedPlugin(_message.Message):
    __slots__ = ("id", "origin", "added_by", "sections", "sections_hash", "version", "digest")
    ID_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    ADDED_BY_FIELD_NUMBER: _ClassVar[int]
    SECTIONS_FIELD_NUMBER: _ClassVar[int]
    SECTIONS_HASH_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    id: str
    origin: str
    added_by: str
    sections: _containers.RepeatedScalarFieldContainer[str]
    sections_hash: str
    version: str
    digest: str
    def __init__(self, id: _Optional[str] = ..., origin: _Optional[str] = ..., added_by: _Optional[str] = ..., sections: _Optional[_Iterable[str]] = ..., sections_hash: _Optional[str] = ..., version: _Optional[str] = ..., digest: _Optional[str] = ...) -> None: ...

class PlannedTool(_message.Message):
    __slots__ = ("name", "permission_class", "source", "pool", "admitted_by", "calls", "call_rules")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_CLASS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    ADMITTED_BY_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    CALL_RULES_FIELD_NUMBER: _ClassVar[int]
    name: str
    permission_class: str
    source: str
    pool: str
    admitted_by: str
    calls: str
    call_rules: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., permission_class: _Optional[str] = ..., source: _Optional[str] = ..., pool: _Optional[str] = ..., admitted_by: _Optional[str] = ..., calls: _Optional[str] = ..., call_rules: _Optional[_Iterable[str]] = ...) -> None: ...

class ExcludedTool(_message.Message):
    __slots__ = ("name", "permission_class", "source", "excluded_by", "reason")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_CLASS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_BY_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    name: str
    permission_class: str
    source: str
    excluded_by: str
    reason: str
    def __init__(self, name: _Optional[str] = ..., permission_class: _Optional[str] = ..., source: _Optional[str] = ..., excluded_by: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class PlannedModel(_message.Message):
    __slots__ = ("role", "id", "provider", "upstream_name")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_NAME_FIELD_NUMBER: _ClassVar[int]
    role: str
    id: str
    provider: str
    upstream_name: str
    def __init__(self, role: _Optional[str] = ..., id: _Optional[str] = ..., provider: _Optional[str] = ..., upstream_name: _Optional[str] = ...) -> None: ...
