from reeve.access.v1 import role_pb2 as _role_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetCallerRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetCallerResponse(_message.Message):
    __slots__ = ("tenant", "subject", "groups", "roles", "operates_deployment")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    ROLES_FIELD_NUMBER: _ClassVar[int]
    OPERATES_DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    subject: str
    groups: _containers.RepeatedScalarFieldContainer[str]
    roles: _containers.RepeatedScalarFieldContainer[_role_pb2.Role]
    operates_deployment: bool
    def __init__(self, tenant: _Optional[str] = ..., subject: _Optional[str] = ..., groups: _Optional[_Iterable[str]] = ..., roles: _Optional[_Iterable[_Union[_role_pb2.Role, str]]] = ..., operates_deployment: _Optional[bool] = ...) -> None: ...
