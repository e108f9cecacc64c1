from reeve.workflow.v1 import node_type_pb2 as _node_type_pb2
from reeve.workflow.v1 import workflow_pb2 as _workflow_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ListNodeTypesRequest(_message.Message):
    __slots__ = ("agent_id", "query", "page_size", "page_token")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    query: str
    page_size: int
    page_token: str
    def __init__(self, agent_id: _Optional[str] = ..., query: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListNodeTypesResponse(_message.Message):
    __slots__ = ("node_types", "next_page_token")
    NODE_TYPES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    node_types: _containers.RepeatedCompositeFieldContainer[_node_type_pb2.NodeType]
    next_page_token: str
    def __init__(self, node_types: _Optional[_Iterable[_Union[_node_type_pb2.NodeType, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ValidateWorkflowRequest(_message.Message):
    __slots__ = ("workflow", "agent_id")
    WORKFLOW_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    workflow: _workflow_pb2.Workflow
    agent_id: str
    def __init__(self, workflow: _Optional[_Union[_workflow_pb2.Workflow, _Mapping]] = ..., agent_id: _Optional[str] = ...) -> None: ...

class ValidateWorkflowResponse(_message.Message):
    __slots__ = ("violations",)
    VIOLATIONS_FIELD_NUMBER: _ClassVar[int]
    violations: _containers.RepeatedCompositeFieldContainer[WorkflowViolation]
    def __init__(self, violations: _Optional[_Iterable[_Union[WorkflowViolation, _Mapping]]] = ...) -> None: ...

class WorkflowViolation(_message.Message):
    __slots__ = ("field", "description", "reason")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    field: str
    description: str
    reason: str
    def __init__(self, field: _Optional[str] = ..., description: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...
