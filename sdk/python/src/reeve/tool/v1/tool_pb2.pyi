import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from reeve.content.v1 import content_pb2 as _content_pb2
from reeve.knowledge.v1 import knowledge_pb2 as _knowledge_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ToolCategory(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_CATEGORY_UNSPECIFIED: _ClassVar[ToolCategory]
    TOOL_CATEGORY_GENERAL: _ClassVar[ToolCategory]
    TOOL_CATEGORY_FILESYSTEM: _ClassVar[ToolCategory]
    TOOL_CATEGORY_TERMINAL: _ClassVar[ToolCategory]
    TOOL_CATEGORY_CODE: _ClassVar[ToolCategory]
    TOOL_CATEGORY_PLANNING: _ClassVar[ToolCategory]

class PermissionClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PERMISSION_CLASS_UNSPECIFIED: _ClassVar[PermissionClass]
    PERMISSION_CLASS_SAFE: _ClassVar[PermissionClass]
    PERMISSION_CLASS_KNOWLEDGE: _ClassVar[PermissionClass]
    PERMISSION_CLASS_NETWORK: _ClassVar[PermissionClass]
    PERMISSION_CLASS_WORKSPACE_WRITE: _ClassVar[PermissionClass]
    PERMISSION_CLASS_EDITOR_MUTATE: _ClassVar[PermissionClass]
    PERMISSION_CLASS_SUBAGENT: _ClassVar[PermissionClass]
    PERMISSION_CLASS_SECRETS: _ClassVar[PermissionClass]
    PERMISSION_CLASS_EXECUTE: _ClassVar[PermissionClass]

class ResultExtent(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RESULT_EXTENT_UNSPECIFIED: _ClassVar[ResultExtent]
    RESULT_EXTENT_WHOLE: _ClassVar[ResultExtent]
    RESULT_EXTENT_PART: _ClassVar[ResultExtent]
    RESULT_EXTENT_RECORD_DROPPED: _ClassVar[ResultExtent]

class PermissionBehavior(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PERMISSION_BEHAVIOR_UNSPECIFIED: _ClassVar[PermissionBehavior]
    PERMISSION_BEHAVIOR_ASK: _ClassVar[PermissionBehavior]
    PERMISSION_BEHAVIOR_ALLOW: _ClassVar[PermissionBehavior]
    PERMISSION_BEHAVIOR_DENY: _ClassVar[PermissionBehavior]

class ToolStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_STATUS_UNSPECIFIED: _ClassVar[ToolStatus]
    TOOL_STATUS_SUCCESS: _ClassVar[ToolStatus]
    TOOL_STATUS_ERROR: _ClassVar[ToolStatus]
    TOOL_STATUS_REJECTED: _ClassVar[ToolStatus]
    TOOL_STATUS_TIMED_OUT: _ClassVar[ToolStatus]
    TOOL_STATUS_INCOMPLETE: _ClassVar[ToolStatus]

class ApprovalStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    APPROVAL_STATUS_UNSPECIFIED: _ClassVar[ApprovalStatus]
    APPROVAL_STATUS_NOT_REQUIRED: _ClassVar[ApprovalStatus]
    APPROVAL_STATUS_APPROVED: _ClassVar[ApprovalStatus]
    APPROVAL_STATUS_REJECTED: _ClassVar[ApprovalStatus]
    APPROVAL_STATUS_TIMED_OUT: _ClassVar[ApprovalStatus]

class AnswerAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ANSWER_ACTION_UNSPECIFIED: _ClassVar[AnswerAction]
    ANSWER_ACTION_ACCEPT: _ClassVar[AnswerAction]
    ANSWER_ACTION_DECLINE: _ClassVar[AnswerAction]
    ANSWER_ACTION_CANCEL: _ClassVar[AnswerAction]
TOOL_CATEGORY_UNSPECIFIED: ToolCategory
TOOL_CATEGORY_GENERAL: ToolCategory
TOOL_CATEGORY_FILESYSTEM: ToolCategory
TOOL_CATEGORY_TERMINAL: ToolCategory
TOOL_CATEGORY_CODE: ToolCategory
TOOL_CATEGORY_PLANNING: ToolCategory
PERMISSION_CLASS_UNSPECIFIED: PermissionClass
PERMISSION_CLASS_SAFE: PermissionClass
PERMISSION_CLASS_KNOWLEDGE: PermissionClass
PERMISSION_CLASS_NETWORK: PermissionClass
PERMISSION_CLASS_WORKSPACE_WRITE: PermissionClass
PERMISSION_CLASS_EDITOR_MUTATE: PermissionClass
PERMISSION_CLASS_SUBAGENT: PermissionClass
PERMISSION_CLASS_SECRETS: PermissionClass
PERMISSION_CLASS_EXECUTE: PermissionClass
RESULT_EXTENT_UNSPECIFIED: ResultExtent
RESULT_EXTENT_WHOLE: ResultExtent
RESULT_EXTENT_PART: ResultExtent
RESULT_EXTENT_RECORD_DROPPED: ResultExtent
PERMISSION_BEHAVIOR_UNSPECIFIED: PermissionBehavior
PERMISSION_BEHAVIOR_ASK: PermissionBehavior
PERMISSION_BEHAVIOR_ALLOW: PermissionBehavior
PERMISSION_BEHAVIOR_DENY: PermissionBehavior
TOOL_STATUS_UNSPECIFIED: ToolStatus
TOOL_STATUS_SUCCESS: ToolStatus
TOOL_STATUS_ERROR: ToolStatus
TOOL_STATUS_REJECTED: ToolStatus
TOOL_STATUS_TIMED_OUT: ToolStatus
TOOL_STATUS_INCOMPLETE: ToolStatus
APPROVAL_STATUS_UNSPECIFIED: ApprovalStatus
APPROVAL_STATUS_NOT_REQUIRED: ApprovalStatus
APPROVAL_STATUS_APPROVED: ApprovalStatus
APPROVAL_STATUS_REJECTED: ApprovalStatus
APPROVAL_STATUS_TIMED_OUT: ApprovalStatus
ANSWER_ACTION_UNSPECIFIED: AnswerAction
ANSWER_ACTION_ACCEPT: AnswerAction
ANSWER_ACTION_DECLINE: AnswerAction
ANSWER_ACTION_CANCEL: AnswerAction

class ListToolsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListToolsResponse(_message.Message):
    __slots__ = ("tools",)
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    tools: _containers.RepeatedCompositeFieldContainer[ToolDescriptor]
    def __init__(self, tools: _Optional[_Iterable[_Union[ToolDescriptor, _Mapping]]] = ...) -> None: ...

class ToolDescriptor(_message.Message):
    __slots__ = ("name", "description", "input_schema", "permission_class", "parallel_safe", "exclusive_lock", "idempotent", "source", "pool", "category", "path_arguments", "client", "title", "output_schema", "cost_hint")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_CLASS_FIELD_NUMBER: _ClassVar[int]
    PARALLEL_SAFE_FIELD_NUMBER: _ClassVar[int]
    EXCLUSIVE_LOCK_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    PATH_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    CLIENT_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    COST_HINT_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    input_schema: _struct_pb2.Struct
    permission_class: PermissionClass
    parallel_safe: bool
    exclusive_lock: str
    idempotent: bool
    source: str
    pool: str
    category: ToolCategory
    path_arguments: _containers.RepeatedScalarFieldContainer[str]
    client: ClientExecution
    title: str
    output_schema: _struct_pb2.Struct
    cost_hint: str
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., input_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., permission_class: _Optional[_Union[PermissionClass, str]] = ..., parallel_safe: _Optional[bool] = ..., exclusive_lock: _Optional[str] = ..., idempotent: _Optional[bool] = ..., source: _Optional[str] = ..., pool: _Optional[str] = ..., category: _Optional[_Union[ToolCategory, str]] = ..., path_arguments: _Optional[_Iterable[str]] = ..., client: _Optional[_Union[ClientExecution, _Mapping]] = ..., title: _Optional[str] = ..., output_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., cost_hint: _Optional[str] = ...) -> None: ...

class ClientExecution(_message.Message):
    __slots__ = ("timeout", "answered_by_person", "output_schema")
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    ANSWERED_BY_PERSON_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    timeout: _duration_pb2.Duration
    answered_by_person: bool
    output_schema: _struct_pb2.Struct
    def __init__(self, timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., answered_by_person: _Optional[bool] = ..., output_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class ToolCall(_message.Message):
    __slots__ = ("call_id", "name", "arguments", "raw_arguments", "injected_args", "node_id", "item_index", "inherited_from")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    RAW_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    INJECTED_ARGS_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    ITEM_INDEX_FIELD_NUMBER: _ClassVar[int]
    INHERITED_FROM_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    name: str
    arguments: _struct_pb2.Struct
    raw_arguments: str
    injected_args: _struct_pb2.Struct
    node_id: str
    item_index: int
    inherited_from: str
    def __init__(self, call_id: _Optional[str] = ..., name: _Optional[str] = ..., arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., raw_arguments: _Optional[str] = ..., injected_args: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., node_id: _Optional[str] = ..., item_index: _Optional[int] = ..., inherited_from: _Optional[str] = ...) -> None: ...

class ToolResult(_message.Message):
    __slots__ = ("call_id", "name", "content", "is_error", "metadata", "structured", "files", "citations", "retrieval")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    STRUCTURED_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    CITATIONS_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    name: str
    content: str
    is_error: bool
    metadata: ToolResultMetadata
    structured: _struct_pb2.Struct
    files: _containers.RepeatedCompositeFieldContainer[_content_pb2.FilePart]
    citations: _containers.RepeatedCompositeFieldContainer[_knowledge_pb2.Passage]
    retrieval: _knowledge_pb2.Retrieval
    def __init__(self, call_id: _Optional[str] = ..., name: _Optional[str] = ..., content: _Optional[str] = ..., is_error: _Optional[bool] = ..., metadata: _Optional[_Union[ToolResultMetadata, _Mapping]] = ..., structured: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., files: _Optional[_Iterable[_Union[_content_pb2.FilePart, _Mapping]]] = ..., citations: _Optional[_Iterable[_Union[_knowledge_pb2.Passage, _Mapping]]] = ..., retrieval: _Optional[_Union[_knowledge_pb2.Retrieval, _Mapping]] = ...) -> None: ...

class ToolResultMetadata(_message.Message):
    __slots__ = ("status", "started_at", "completed_at", "execution_time_ms", "approval_status", "approval_id", "injected_args", "offloaded_artifact_id", "end_reason", "isolation", "lost_changes", "workspace_revision", "edited_arguments", "permission", "content", "content_changed", "offloaded_artifact_sha256", "rewritten_by", "extent", "inherited_from")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_AT_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_TIME_MS_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_STATUS_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    INJECTED_ARGS_FIELD_NUMBER: _ClassVar[int]
    OFFLOADED_ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    END_REASON_FIELD_NUMBER: _ClassVar[int]
    ISOLATION_FIELD_NUMBER: _ClassVar[int]
    LOST_CHANGES_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_REVISION_FIELD_NUMBER: _ClassVar[int]
    EDITED_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    CONTENT_CHANGED_FIELD_NUMBER: _ClassVar[int]
    OFFLOADED_ARTIFACT_SHA256_FIELD_NUMBER: _ClassVar[int]
    REWRITTEN_BY_FIELD_NUMBER: _ClassVar[int]
    EXTENT_FIELD_NUMBER: _ClassVar[int]
    INHERITED_FROM_FIELD_NUMBER: _ClassVar[int]
    status: ToolStatus
    started_at: _timestamp_pb2.Timestamp
    completed_at: _timestamp_pb2.Timestamp
    execution_time_ms: float
    approval_status: ApprovalStatus
    approval_id: str
    injected_args: _struct_pb2.Struct
    offloaded_artifact_id: str
    end_reason: str
    isolation: str
    lost_changes: _containers.RepeatedCompositeFieldContainer[FileChange]
    workspace_revision: int
    edited_arguments: str
    permission: PermissionDecision
    content: BoundContent
    content_changed: bool
    offloaded_artifact_sha256: str
    rewritten_by: str
    extent: ResultExtent
    inherited_from: str
    def __init__(self, status: _Optional[_Union[ToolStatus, str]] = ..., started_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., completed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., execution_time_ms: _Optional[float] = ..., approval_status: _Optional[_Union[ApprovalStatus, str]] = ..., approval_id: _Optional[str] = ..., injected_args: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., offloaded_artifact_id: _Optional[str] = ..., end_reason: _Optional[str] = ..., isolation: _Optional[str] = ..., lost_changes: _Optional[_Iterable[_Union[FileChange, _Mapping]]] = ..., workspace_revision: _Optional[int] = ..., edited_arguments: _Optional[str] = ..., permission: _Optional[_Union[PermissionDecision, _Mapping]] = ..., content: _Optional[_Union[BoundContent, _Mapping]] = ..., content_changed: _Optional[bool] = ..., offloaded_artifact_sha256: _Optional[str] = ..., rewritten_by: _Optional[str] = ..., extent: _Optional[_Union[ResultExtent, str]] = ..., inherited_from: _Optional[str] = ...) -> None: ...

class BoundContent(_message.Message):
    __slots__ = ("digest", "files")
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    digest: str
    files: _containers.RepeatedCompositeFieldContainer[BoundFile]
    def __init__(self, digest: _Optional[str] = ..., files: _Optional[_Iterable[_Union[BoundFile, _Mapping]]] = ...) -> None: ...

class BoundFile(_message.Message):
    __slots__ = ("path", "state", "size_bytes", "sha256", "preview", "previous")
    PATH_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    PREVIEW_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_FIELD_NUMBER: _ClassVar[int]
    path: str
    state: str
    size_bytes: int
    sha256: str
    preview: str
    previous: BoundFile
    def __init__(self, path: _Optional[str] = ..., state: _Optional[str] = ..., size_bytes: _Optional[int] = ..., sha256: _Optional[str] = ..., preview: _Optional[str] = ..., previous: _Optional[_Union[BoundFile, _Mapping]] = ...) -> None: ...

class PermissionDecision(_message.Message):
    __slots__ = ("behavior", "rule", "source", "policy_rule", "asking_sources", "agent_id")
    BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    POLICY_RULE_FIELD_NUMBER: _ClassVar[int]
    ASKING_SOURCES_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    behavior: PermissionBehavior
    rule: str
    source: str
    policy_rule: str
    asking_sources: _containers.RepeatedScalarFieldContainer[str]
    agent_id: str
    def __init__(self, behavior: _Optional[_Union[PermissionBehavior, str]] = ..., rule: _Optional[str] = ..., source: _Optional[str] = ..., policy_rule: _Optional[str] = ..., asking_sources: _Optional[_Iterable[str]] = ..., agent_id: _Optional[str] = ...) -> None: ...

class PermissionRule(_message.Message):
    __slots__ = ("tool", "behavior")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    tool: str
    behavior: PermissionBehavior
    def __init__(self, tool: _Optional[str] = ..., behavior: _Optional[_Union[PermissionBehavior, str]] = ...) -> None: ...

class FileChange(_message.Message):
    __slots__ = ("call_id", "tool", "host", "revision")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    tool: str
    host: str
    revision: int
    def __init__(self, call_id: _Optional[str] = ..., tool: _Optional[str] = ..., host: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class ToolProgress(_message.Message):
    __slots__ = ("call_id", "name", "progress", "total", "message")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    name: str
    progress: float
    total: float
    message: str
    def __init__(self, call_id: _Optional[str] = ..., name: _Optional[str] = ..., progress: _Optional[float] = ..., total: _Optional[float] = ..., message: _Optional[str] = ...) -> None: ...

class ToolCatalog(_message.Message):
    __slots__ = ("pool", "tools", "isolation", "host", "announced_at", "sandbox", "binds_content", "uses_credentials")
    POOL_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    ISOLATION_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    ANNOUNCED_AT_FIELD_NUMBER: _ClassVar[int]
    SANDBOX_FIELD_NUMBER: _ClassVar[int]
    BINDS_CONTENT_FIELD_NUMBER: _ClassVar[int]
    USES_CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    pool: str
    tools: _containers.RepeatedCompositeFieldContainer[ToolDescriptor]
    isolation: str
    host: str
    announced_at: _timestamp_pb2.Timestamp
    sandbox: SandboxFeatures
    binds_content: bool
    uses_credentials: bool
    def __init__(self, pool: _Optional[str] = ..., tools: _Optional[_Iterable[_Union[ToolDescriptor, _Mapping]]] = ..., isolation: _Optional[str] = ..., host: _Optional[str] = ..., announced_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., sandbox: _Optional[_Union[SandboxFeatures, _Mapping]] = ..., binds_content: _Optional[bool] = ..., uses_credentials: _Optional[bool] = ...) -> None: ...

class SandboxFeatures(_message.Message):
    __slots__ = ("network_allow", "read_only_workspace", "workspace_bytes", "image", "network_credentials", "mounts_skills")
    NETWORK_ALLOW_FIELD_NUMBER: _ClassVar[int]
    READ_ONLY_WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_BYTES_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    NETWORK_CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    MOUNTS_SKILLS_FIELD_NUMBER: _ClassVar[int]
    network_allow: _containers.RepeatedScalarFieldContainer[str]
    read_only_workspace: bool
    workspace_bytes: int
    image: str
    network_credentials: _containers.RepeatedScalarFieldContainer[str]
    mounts_skills: bool
    def __init__(self, network_allow: _Optional[_Iterable[str]] = ..., read_only_workspace: _Optional[bool] = ..., workspace_bytes: _Optional[int] = ..., image: _Optional[str] = ..., network_credentials: _Optional[_Iterable[str]] = ..., mounts_skills: _Optional[bool] = ...) -> None: ...

class ToolCallRequest(_message.Message):
    __slots__ = ("tenant", "run_id", "call", "workspace", "settings", "idempotent", "traceparent", "requested_at", "started_by", "content", "waits")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENT_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_AT_FIELD_NUMBER: _ClassVar[int]
    STARTED_BY_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    WAITS_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    run_id: str
    call: ToolCall
    workspace: Workspace
    settings: ToolSettings
    idempotent: bool
    traceparent: str
    requested_at: _timestamp_pb2.Timestamp
    started_by: str
    content: BoundContent
    waits: int
    def __init__(self, tenant: _Optional[str] = ..., run_id: _Optional[str] = ..., call: _Optional[_Union[ToolCall, _Mapping]] = ..., workspace: _Optional[_Union[Workspace, _Mapping]] = ..., settings: _Optional[_Union[ToolSettings, _Mapping]] = ..., idempotent: _Optional[bool] = ..., traceparent: _Optional[str] = ..., requested_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., started_by: _Optional[str] = ..., content: _Optional[_Union[BoundContent, _Mapping]] = ..., waits: _Optional[int] = ...) -> None: ...

class Workspace(_message.Message):
    __slots__ = ("id", "files", "staged_for")
    ID_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    STAGED_FOR_FIELD_NUMBER: _ClassVar[int]
    id: str
    files: _containers.RepeatedCompositeFieldContainer[WorkspaceFile]
    staged_for: str
    def __init__(self, id: _Optional[str] = ..., files: _Optional[_Iterable[_Union[WorkspaceFile, _Mapping]]] = ..., staged_for: _Optional[str] = ...) -> None: ...

class WorkspaceFile(_message.Message):
    __slots__ = ("artifact_id", "path")
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    artifact_id: str
    path: str
    def __init__(self, artifact_id: _Optional[str] = ..., path: _Optional[str] = ...) -> None: ...

class ToolSettings(_message.Message):
    __slots__ = ("allowed_imports", "command_blacklist", "code_timeout", "command_timeout", "read_only", "result_bytes", "network_allow", "cannot_retrieve", "network_credentials", "network_allow_with_credentials", "web_tools", "delegate_id", "skills")
    ALLOWED_IMPORTS_FIELD_NUMBER: _ClassVar[int]
    COMMAND_BLACKLIST_FIELD_NUMBER: _ClassVar[int]
    CODE_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    COMMAND_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    READ_ONLY_FIELD_NUMBER: _ClassVar[int]
    RESULT_BYTES_FIELD_NUMBER: _ClassVar[int]
    NETWORK_ALLOW_FIELD_NUMBER: _ClassVar[int]
    CANNOT_RETRIEVE_FIELD_NUMBER: _ClassVar[int]
    NETWORK_CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    NETWORK_ALLOW_WITH_CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    WEB_TOOLS_FIELD_NUMBER: _ClassVar[int]
    DELEGATE_ID_FIELD_NUMBER: _ClassVar[int]
    SKILLS_FIELD_NUMBER: _ClassVar[int]
    allowed_imports: _struct_pb2.ListValue
    command_blacklist: _struct_pb2.ListValue
    code_timeout: _duration_pb2.Duration
    command_timeout: _duration_pb2.Duration
    read_only: bool
    result_bytes: int
    network_allow: _containers.RepeatedScalarFieldContainer[str]
    cannot_retrieve: bool
    network_credentials: _containers.RepeatedScalarFieldContainer[str]
    network_allow_with_credentials: _containers.RepeatedScalarFieldContainer[str]
    web_tools: bool
    delegate_id: str
    skills: _containers.RepeatedCompositeFieldContainer[MountedSkill]
    def __init__(self, allowed_imports: _Optional[_Union[_struct_pb2.ListValue, _Mapping]] = ..., command_blacklist: _Optional[_Union[_struct_pb2.ListValue, _Mapping]] = ..., code_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., command_timeout: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., read_only: _Optional[bool] = ..., result_bytes: _Optional[int] = ..., network_allow: _Optional[_Iterable[str]] = ..., cannot_retrieve: _Optional[bool] = ..., network_credentials: _Optional[_Iterable[str]] = ..., network_allow_with_credentials: _Optional[_Iterable[str]] = ..., web_tools: _Optional[bool] = ..., delegate_id: _Optional[str] = ..., skills: _Optional[_Iterable[_Union[MountedSkill, _Mapping]]] = ...) -> None: ...

class MountedSkill(_message.Message):
    __slots__ = ("name", "digest", "artifact_id")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    name: str
    digest: str
    artifact_id: str
    def __init__(self, name: _Optional[str] = ..., digest: _Optional[str] = ..., artifact_id: _Optional[str] = ...) -> None: ...

class ToolCallJournal(_message.Message):
    __slots__ = ("first_sequence", "facts", "previous_digest", "salt")
    FIRST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    SALT_FIELD_NUMBER: _ClassVar[int]
    first_sequence: int
    facts: _containers.RepeatedCompositeFieldContainer[ToolCallFact]
    previous_digest: bytes
    salt: bytes
    def __init__(self, first_sequence: _Optional[int] = ..., facts: _Optional[_Iterable[_Union[ToolCallFact, _Mapping]]] = ..., previous_digest: _Optional[bytes] = ..., salt: _Optional[bytes] = ...) -> None: ...

class ToolCallFact(_message.Message):
    __slots__ = ("time", "started", "progress", "result", "cancelled", "question", "answer")
    TIME_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_FIELD_NUMBER: _ClassVar[int]
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    time: _timestamp_pb2.Timestamp
    started: CallStarted
    progress: ToolProgress
    result: ToolResult
    cancelled: CallCancelled
    question: Question
    answer: Answer
    def __init__(self, time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., started: _Optional[_Union[CallStarted, _Mapping]] = ..., progress: _Optional[_Union[ToolProgress, _Mapping]] = ..., result: _Optional[_Union[ToolResult, _Mapping]] = ..., cancelled: _Optional[_Union[CallCancelled, _Mapping]] = ..., question: _Optional[_Union[Question, _Mapping]] = ..., answer: _Optional[_Union[Answer, _Mapping]] = ...) -> None: ...

class Question(_message.Message):
    __slots__ = ("question_id", "message", "schema", "asked_by")
    QUESTION_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    ASKED_BY_FIELD_NUMBER: _ClassVar[int]
    question_id: str
    message: str
    schema: _struct_pb2.Struct
    asked_by: str
    def __init__(self, question_id: _Optional[str] = ..., message: _Optional[str] = ..., schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., asked_by: _Optional[str] = ...) -> None: ...

class Answer(_message.Message):
    __slots__ = ("question_id", "action", "content")
    QUESTION_ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    question_id: str
    action: AnswerAction
    content: _struct_pb2.Struct
    def __init__(self, question_id: _Optional[str] = ..., action: _Optional[_Union[AnswerAction, str]] = ..., content: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class CallStarted(_message.Message):
    __slots__ = ("host", "request_sequence")
    HOST_FIELD_NUMBER: _ClassVar[int]
    REQUEST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    host: str
    request_sequence: int
    def __init__(self, host: _Optional[str] = ..., request_sequence: _Optional[int] = ...) -> None: ...

class CallCancelled(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...
