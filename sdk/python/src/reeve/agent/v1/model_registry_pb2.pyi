import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from reeve.agent.v1 import model_spec_pb2 as _model_spec_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ModelRegistry(_message.Message):
    __slots__ = ("revision", "providers", "models")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    revision: int
    providers: _containers.RepeatedCompositeFieldContainer[StoredProvider]
    models: _containers.RepeatedCompositeFieldContainer[StoredModel]
    def __init__(self, revision: _Optional[int] = ..., providers: _Optional[_Iterable[_Union[StoredProvider, _Mapping]]] = ..., models: _Optional[_Iterable[_Union[StoredModel, _Mapping]]] = ...) -> None: ...

class ProviderSpec(_message.Message):
    __slots__ = ("provider_id", "api", "base_url", "secret")
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    API_FIELD_NUMBER: _ClassVar[int]
    BASE_URL_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    provider_id: str
    api: str
    base_url: str
    secret: str
    def __init__(self, provider_id: _Optional[str] = ..., api: _Optional[str] = ..., base_url: _Optional[str] = ..., secret: _Optional[str] = ...) -> None: ...

class StoredProvider(_message.Message):
    __slots__ = ("spec", "revision", "updated_at", "updated_by")
    SPEC_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_BY_FIELD_NUMBER: _ClassVar[int]
    spec: ProviderSpec
    revision: int
    updated_at: _timestamp_pb2.Timestamp
    updated_by: str
    def __init__(self, spec: _Optional[_Union[ProviderSpec, _Mapping]] = ..., revision: _Optional[int] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_by: _Optional[str] = ...) -> None: ...

class StoredModel(_message.Message):
    __slots__ = ("spec", "revision", "updated_at", "updated_by")
    SPEC_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_BY_FIELD_NUMBER: _ClassVar[int]
    spec: _model_spec_pb2.ModelSpec
    revision: int
    updated_at: _timestamp_pb2.Timestamp
    updated_by: str
    def __init__(self, spec: _Optional[_Union[_model_spec_pb2.ModelSpec, _Mapping]] = ..., revision: _Optional[int] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_by: _Optional[str] = ...) -> None: ...
