from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CheckedRule(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHECKED_RULE_UNSPECIFIED: _ClassVar[CheckedRule]
    CHECKED_RULE_STEP_UP: _ClassVar[CheckedRule]
    CHECKED_RULE_STOP_CONDITIONS: _ClassVar[CheckedRule]
    CHECKED_RULE_OUTPUT_SCHEMA: _ClassVar[CheckedRule]
    CHECKED_RULE_DELEGATES: _ClassVar[CheckedRule]
    CHECKED_RULE_CONTENT_PARTS: _ClassVar[CheckedRule]
    CHECKED_RULE_SKILLS: _ClassVar[CheckedRule]
    CHECKED_RULE_CLIENT_TOOLS: _ClassVar[CheckedRule]
    CHECKED_RULE_PLUGINS: _ClassVar[CheckedRule]
    CHECKED_RULE_WORKFLOW: _ClassVar[CheckedRule]
    CHECKED_RULE_EDITOR: _ClassVar[CheckedRule]
    CHECKED_RULE_GUARDRAILS: _ClassVar[CheckedRule]
    CHECKED_RULE_DELEGATE_PLUGINS: _ClassVar[CheckedRule]
    CHECKED_RULE_COLLECTIONS: _ClassVar[CheckedRule]
    CHECKED_RULE_MEDIA: _ClassVar[CheckedRule]
    CHECKED_RULE_STORED_MODELS: _ClassVar[CheckedRule]
    CHECKED_RULE_ENDPOINT: _ClassVar[CheckedRule]
    CHECKED_RULE_WORKFLOW_CONTINUATION: _ClassVar[CheckedRule]
CHECKED_RULE_UNSPECIFIED: CheckedRule
CHECKED_RULE_STEP_UP: CheckedRule
CHECKED_RULE_STOP_CONDITIONS: CheckedRule
CHECKED_RULE_OUTPUT_SCHEMA: CheckedRule
CHECKED_RULE_DELEGATES: CheckedRule
CHECKED_RULE_CONTENT_PARTS: CheckedRule
CHECKED_RULE_SKILLS: CheckedRule
CHECKED_RULE_CLIENT_TOOLS: CheckedRule
CHECKED_RULE_PLUGINS: CheckedRule
CHECKED_RULE_WORKFLOW: CheckedRule
CHECKED_RULE_EDITOR: CheckedRule
CHECKED_RULE_GUARDRAILS: CheckedRule
CHECKED_RULE_DELEGATE_PLUGINS: CheckedRule
CHECKED_RULE_COLLECTIONS: CheckedRule
CHECKED_RULE_MEDIA: CheckedRule
CHECKED_RULE_STORED_MODELS: CheckedRule
CHECKED_RULE_ENDPOINT: CheckedRule
CHECKED_RULE_WORKFLOW_CONTINUATION: CheckedRule

class QueueHolder(_message.Message):
    __slots__ = ("holder", "held", "crashed", "released_by", "checks", "executor", "carried_runs")
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    CRASHED_FIELD_NUMBER: _ClassVar[int]
    RELEASED_BY_FIELD_NUMBER: _ClassVar[int]
    CHECKS_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_FIELD_NUMBER: _ClassVar[int]
    CARRIED_RUNS_FIELD_NUMBER: _ClassVar[int]
    holder: str
    held: _containers.RepeatedCompositeFieldContainer[HeldMessages]
    crashed: bool
    released_by: str
    checks: _containers.RepeatedScalarFieldContainer[CheckedRule]
    executor: str
    carried_runs: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, holder: _Optional[str] = ..., held: _Optional[_Iterable[_Union[HeldMessages, _Mapping]]] = ..., crashed: _Optional[bool] = ..., released_by: _Optional[str] = ..., checks: _Optional[_Iterable[_Union[CheckedRule, str]]] = ..., executor: _Optional[str] = ..., carried_runs: _Optional[_Iterable[str]] = ...) -> None: ...

class HeldMessages(_message.Message):
    __slots__ = ("stream", "consumer", "sequences")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    CONSUMER_FIELD_NUMBER: _ClassVar[int]
    SEQUENCES_FIELD_NUMBER: _ClassVar[int]
    stream: str
    consumer: str
    sequences: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, stream: _Optional[str] = ..., consumer: _Optional[str] = ..., sequences: _Optional[_Iterable[int]] = ...) -> None: ...

class HolderProbe(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
