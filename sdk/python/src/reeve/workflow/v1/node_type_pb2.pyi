from google.protobuf import struct_pb2 as _struct_pb2
from reeve.tool.v1 import tool_pb2 as _tool_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class NodeType(_message.Message):
    __slots__ = ("id", "title", "description", "inputs", "outputs", "takes_other_inputs", "permission_class", "properties_schema", "cost_hint", "problem")
    ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    TAKES_OTHER_INPUTS_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_CLASS_FIELD_NUMBER: _ClassVar[int]
    PROPERTIES_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    COST_HINT_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    id: str
    title: str
    description: str
    inputs: _containers.RepeatedCompositeFieldContainer[NodePort]
    outputs: _containers.RepeatedCompositeFieldContainer[NodePort]
    takes_other_inputs: bool
    permission_class: _tool_pb2.PermissionClass
    properties_schema: _struct_pb2.Struct
    cost_hint: str
    problem: str
    def __init__(self, id: _Optional[str] = ..., title: _Optional[str] = ..., description: _Optional[str] = ..., inputs: _Optional[_Iterable[_Union[NodePort, _Mapping]]] = ..., outputs: _Optional[_Iterable[_Union[NodePort, _Mapping]]] = ..., takes_other_inputs: _Optional[bool] = ..., permission_class: _Optional[_Union[_tool_pb2.PermissionClass, str]] = ..., properties_schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., cost_hint: _Optional[str] = ..., problem: _Optional[str] = ...) -> None: ...

class NodePort(_message.Message):
    __slots__ = ("handle", "description", "schema", "required", "multiple")
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    MULTIPLE_FIELD_NUMBER: _ClassVar[int]
    handle: str
    description: str
    schema: _struct_pb2.Struct
    required: bool
    multiple: bool
    def __init__(self, handle: _Optional[str] = ..., description: _Optional[str] = ..., schema: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., required: _Optional[bool] = ..., multiple: _Optional[bool] = ...) -> None: ...
