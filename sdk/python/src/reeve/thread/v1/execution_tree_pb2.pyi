from reeve.tool.v1 import tool_pb2 as _tool_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ExecutionTree(_message.Message):
    __slots__ = ("version", "nodes")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    version: int
    nodes: _containers.RepeatedCompositeFieldContainer[ExecutionTreeNode]
    def __init__(self, version: _Optional[int] = ..., nodes: _Optional[_Iterable[_Union[ExecutionTreeNode, _Mapping]]] = ...) -> None: ...

class ExecutionTreeNode(_message.Message):
    __slots__ = ("id", "parent_id", "name", "title", "args_preview", "result_preview", "is_error", "duration_ms", "unfinished", "args_edited", "permission", "node_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    ARGS_PREVIEW_FIELD_NUMBER: _ClassVar[int]
    RESULT_PREVIEW_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    UNFINISHED_FIELD_NUMBER: _ClassVar[int]
    ARGS_EDITED_FIELD_NUMBER: _ClassVar[int]
    PERMISSION_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    parent_id: str
    name: str
    title: str
    args_preview: str
    result_preview: str
    is_error: bool
    duration_ms: float
    unfinished: bool
    args_edited: bool
    permission: _tool_pb2.PermissionDecision
    node_id: str
    def __init__(self, id: _Optional[str] = ..., parent_id: _Optional[str] = ..., name: _Optional[str] = ..., title: _Optional[str] = ..., args_preview: _Optional[str] = ..., result_preview: _Optional[str] = ..., is_error: _Optional[bool] = ..., duration_ms: _Optional[float] = ..., unfinished: _Optional[bool] = ..., args_edited: _Optional[bool] = ..., permission: _Optional[_Union[_tool_pb2.PermissionDecision, _Mapping]] = ..., node_id: _Optional[str] = ...) -> None: ...
