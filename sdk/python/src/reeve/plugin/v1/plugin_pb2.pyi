import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class HookPhase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HOOK_PHASE_UNSPECIFIED: _ClassVar[HookPhase]
    HOOK_PHASE_RUN_START: _ClassVar[HookPhase]
    HOOK_PHASE_STEP_START: _ClassVar[HookPhase]
    HOOK_PHASE_BEFORE_INFERENCE: _ClassVar[HookPhase]
    HOOK_PHASE_AFTER_INFERENCE: _ClassVar[HookPhase]
    HOOK_PHASE_TOOL_GATE: _ClassVar[HookPhase]
    HOOK_PHASE_BEFORE_TOOL: _ClassVar[HookPhase]
    HOOK_PHASE_AFTER_TOOL: _ClassVar[HookPhase]
    HOOK_PHASE_STEP_END: _ClassVar[HookPhase]
    HOOK_PHASE_RUN_END: _ClassVar[HookPhase]
    HOOK_PHASE_ACTION: _ClassVar[HookPhase]
    HOOK_PHASE_ACTIVATE: _ClassVar[HookPhase]
    HOOK_PHASE_DEACTIVATE: _ClassVar[HookPhase]

class MergeMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MERGE_MODE_UNSPECIFIED: _ClassVar[MergeMode]
    MERGE_MODE_EXCLUSIVE: _ClassVar[MergeMode]
    MERGE_MODE_SUM: _ClassVar[MergeMode]
    MERGE_MODE_UNION: _ClassVar[MergeMode]
HOOK_PHASE_UNSPECIFIED: HookPhase
HOOK_PHASE_RUN_START: HookPhase
HOOK_PHASE_STEP_START: HookPhase
HOOK_PHASE_BEFORE_INFERENCE: HookPhase
HOOK_PHASE_AFTER_INFERENCE: HookPhase
HOOK_PHASE_TOOL_GATE: HookPhase
HOOK_PHASE_BEFORE_TOOL: HookPhase
HOOK_PHASE_AFTER_TOOL: HookPhase
HOOK_PHASE_STEP_END: HookPhase
HOOK_PHASE_RUN_END: HookPhase
HOOK_PHASE_ACTION: HookPhase
HOOK_PHASE_ACTIVATE: HookPhase
HOOK_PHASE_DEACTIVATE: HookPhase
MERGE_MODE_UNSPECIFIED: MergeMode
MERGE_MODE_EXCLUSIVE: MergeMode
MERGE_MODE_SUM: MergeMode
MERGE_MODE_UNION: MergeMode

class DescribePluginsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribePluginsResponse(_message.Message):
    __slots__ = ("plugins",)
    PLUGINS_FIELD_NUMBER: _ClassVar[int]
    plugins: _containers.RepeatedCompositeFieldContainer[PluginDescriptor]
    def __init__(self, plugins: _Optional[_Iterable[_Union[PluginDescriptor, _Mapping]]] = ...) -> None: ...

class PluginDescriptor(_message.Message):
    __slots__ = ("id", "version", "phases", "section_schema", "state_keys", "tools", "deadline", "handles_actions")
    ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PHASES_FIELD_NUMBER: _ClassVar[int]
    SECTION_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    STATE_KEYS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_FIELD_NUMBER: _ClassVar[int]
    HANDLES_ACTIONS_FIELD_NUMBER: _ClassVar[int]
    id: str
    version: str
    phases: _containers.RepeatedScalarFieldContainer[HookPhase]
    section_schema: _struct_pb2.Struct
    state_keys: _containers.RepeatedCompositeFieldContainer[StateKey]
    tools: _containers.RepeatedCompositeFieldContainer[PluginTool]
    deadline: _duration_pb2.Duration
    handles_actions: bool
    def __init__(self, id: _Optional[str] = ..., version: _Optional[str] = ..., phases: _Optional[_Iterable[_Union[HookPhase, str]]] = ..., section_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., state_keys: _Optional[_Iterable[_Union[StateKey, _Mapping]]] = ..., tools: _Optional[_Iterable[_Union[PluginTool, _Mapping]]] = ..., deadline: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., handles_actions: _Optional[bool] = ...) -> None: ...

class StateKey(_message.Message):
    __slots__ = ("name", "merge", "schema")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MERGE_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    name: str
    merge: MergeMode
    schema: _struct_pb2.Struct
    def __init__(self, name: _Optional[str] = ..., merge: _Optional[_Union[MergeMode, str]] = ..., schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class PluginTool(_message.Message):
    __slots__ = ("name", "description", "input_schema", "permission_class", "idempotent", "time_limit")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INPUT_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_CLASS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENT_FIELD_NUMBER: _ClassVar[int]
    TIME_LIMIT_FIELD_NUMBER: _ClassVar[int]
    name: str
    description: str
    input_schema: _struct_pb2.Struct
    permission_class: str
    idempotent: bool
    time_limit: _duration_pb2.Duration
    def __init__(self, name: _Optional[str] = ..., description: _Optional[str] = ..., input_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., permission_class: _Optional[str] = ..., idempotent: _Optional[bool] = ..., time_limit: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class RunHookRequest(_message.Message):
    __slots__ = ("hook_id", "attempt", "plugin_id", "phase", "tenant", "run_id", "agent_id", "parent_id", "depth", "step", "section", "state", "traceparent", "plugin_version", "run_start", "inference", "turn", "call", "run_end", "action")
    class StateEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _struct_pb2.Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ...) -> None: ...
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_ID_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    SECTION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_VERSION_FIELD_NUMBER: _ClassVar[int]
    RUN_START_FIELD_NUMBER: _ClassVar[int]
    INFERENCE_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    CALL_FIELD_NUMBER: _ClassVar[int]
    RUN_END_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    hook_id: str
    attempt: int
    plugin_id: str
    phase: HookPhase
    tenant: str
    run_id: str
    agent_id: str
    parent_id: str
    depth: int
    step: int
    section: _struct_pb2.Value
    state: _containers.MessageMap[str, _struct_pb2.Value]
    traceparent: str
    plugin_version: str
    run_start: RunStartData
    inference: InferenceData
    turn: TurnData
    call: CallData
    run_end: RunEndData
    action: ActionData
    def __init__(self, hook_id: _Optional[str] = ..., attempt: _Optional[int] = ..., plugin_id: _Optional[str] = ..., phase: _Optional[_Union[HookPhase, str]] = ..., tenant: _Optional[str] = ..., run_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., parent_id: _Optional[str] = ..., depth: _Optional[int] = ..., step: _Optional[int] = ..., section: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., state: _Optional[_Mapping[str, _struct_pb2.Value]] = ..., traceparent: _Optional[str] = ..., plugin_version: _Optional[str] = ..., run_start: _Optional[_Union[RunStartData, _Mapping]] = ..., inference: _Optional[_Union[InferenceData, _Mapping]] = ..., turn: _Optional[_Union[TurnData, _Mapping]] = ..., call: _Optional[_Union[CallData, _Mapping]] = ..., run_end: _Optional[_Union[RunEndData, _Mapping]] = ..., action: _Optional[_Union[ActionData, _Mapping]] = ...) -> None: ...

class RunStartData(_message.Message):
    __slots__ = ("input",)
    INPUT_FIELD_NUMBER: _ClassVar[int]
    input: str
    def __init__(self, input: _Optional[str] = ...) -> None: ...

class InferenceData(_message.Message):
    __slots__ = ("model", "tools", "messages")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    model: str
    tools: _containers.RepeatedScalarFieldContainer[str]
    messages: int
    def __init__(self, model: _Optional[str] = ..., tools: _Optional[_Iterable[str]] = ..., messages: _Optional[int] = ...) -> None: ...

class TurnData(_message.Message):
    __slots__ = ("text", "calls")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CALLS_FIELD_NUMBER: _ClassVar[int]
    text: str
    calls: _containers.RepeatedCompositeFieldContainer[CallData]
    def __init__(self, text: _Optional[str] = ..., calls: _Optional[_Iterable[_Union[CallData, _Mapping]]] = ...) -> None: ...

class CallData(_message.Message):
    __slots__ = ("call_id", "name", "arguments", "permission_class", "source", "result", "is_error")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_CLASS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    name: str
    arguments: _struct_pb2.Struct
    permission_class: str
    source: str
    result: str
    is_error: bool
    def __init__(self, call_id: _Optional[str] = ..., name: _Optional[str] = ..., arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., permission_class: _Optional[str] = ..., source: _Optional[str] = ..., result: _Optional[str] = ..., is_error: _Optional[bool] = ...) -> None: ...

class RunEndData(_message.Message):
    __slots__ = ("status", "message")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    status: str
    message: str
    def __init__(self, status: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class ActionData(_message.Message):
    __slots__ = ("name", "payload", "round")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    name: str
    payload: _struct_pb2.Struct
    round: int
    def __init__(self, name: _Optional[str] = ..., payload: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., round: _Optional[int] = ...) -> None: ...

class RunHookResponse(_message.Message):
    __slots__ = ("patches", "allow", "ask", "deny", "rewrite", "stop", "transform", "actions")
    PATCHES_FIELD_NUMBER: _ClassVar[int]
    ALLOW_FIELD_NUMBER: _ClassVar[int]
    ASK_FIELD_NUMBER: _ClassVar[int]
    DENY_FIELD_NUMBER: _ClassVar[int]
    REWRITE_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    TRANSFORM_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    patches: _containers.RepeatedCompositeFieldContainer[StatePatch]
    allow: AllowVerdict
    ask: AskVerdict
    deny: DenyVerdict
    rewrite: RewriteVerdict
    stop: StopVerdict
    transform: RequestTransform
    actions: _containers.RepeatedCompositeFieldContainer[ScheduledAction]
    def __init__(self, patches: _Optional[_Iterable[_Union[StatePatch, _Mapping]]] = ..., allow: _Optional[_Union[AllowVerdict, _Mapping]] = ..., ask: _Optional[_Union[AskVerdict, _Mapping]] = ..., deny: _Optional[_Union[DenyVerdict, _Mapping]] = ..., rewrite: _Optional[_Union[RewriteVerdict, _Mapping]] = ..., stop: _Optional[_Union[StopVerdict, _Mapping]] = ..., transform: _Optional[_Union[RequestTransform, _Mapping]] = ..., actions: _Optional[_Iterable[_Union[ScheduledAction, _Mapping]]] = ...) -> None: ...

class StatePatch(_message.Message):
    __slots__ = ("key", "value")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: _struct_pb2.Value
    def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ...) -> None: ...

class AllowVerdict(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class AskVerdict(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class DenyVerdict(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class RewriteVerdict(_message.Message):
    __slots__ = ("arguments",)
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    arguments: _struct_pb2.Struct
    def __init__(self, arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class StopVerdict(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class RequestTransform(_message.Message):
    __slots__ = ("instructions", "removed_tools")
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    REMOVED_TOOLS_FIELD_NUMBER: _ClassVar[int]
    instructions: str
    removed_tools: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, instructions: _Optional[str] = ..., removed_tools: _Optional[_Iterable[str]] = ...) -> None: ...

class ScheduledAction(_message.Message):
    __slots__ = ("name", "payload", "delay")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    DELAY_FIELD_NUMBER: _ClassVar[int]
    name: str
    payload: _struct_pb2.Struct
    delay: _duration_pb2.Duration
    def __init__(self, name: _Optional[str] = ..., payload: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., delay: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ExecutePluginToolRequest(_message.Message):
    __slots__ = ("call_id", "plugin_id", "name", "arguments", "tenant", "run_id", "section", "state", "traceparent", "plugin_version")
    class StateEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _struct_pb2.Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ...) -> None: ...
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SECTION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_VERSION_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    plugin_id: str
    name: str
    arguments: _struct_pb2.Struct
    tenant: str
    run_id: str
    section: _struct_pb2.Value
    state: _containers.MessageMap[str, _struct_pb2.Value]
    traceparent: str
    plugin_version: str
    def __init__(self, call_id: _Optional[str] = ..., plugin_id: _Optional[str] = ..., name: _Optional[str] = ..., arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., tenant: _Optional[str] = ..., run_id: _Optional[str] = ..., section: _Optional[_Union[_struct_pb2.Value, _Mapping]] = ..., state: _Optional[_Mapping[str, _struct_pb2.Value]] = ..., traceparent: _Optional[str] = ..., plugin_version: _Optional[str] = ...) -> None: ...

class ExecutePluginToolResponse(_message.Message):
    __slots__ = ("content", "is_error")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    content: str
    is_error: bool
    def __init__(self, content: _Optional[str] = ..., is_error: _Optional[bool] = ...) -> None: ...
