from reeve.agent.v1 import model_registry_pb2 as _model_registry_pb2
from reeve.agent.v1 import model_spec_pb2 as _model_spec_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetModelRegistryRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetModelRegistryResponse(_message.Message):
    __slots__ = ("registry", "origins", "secrets", "warnings")
    REGISTRY_FIELD_NUMBER: _ClassVar[int]
    ORIGINS_FIELD_NUMBER: _ClassVar[int]
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    registry: _model_registry_pb2.ModelRegistry
    origins: _containers.RepeatedScalarFieldContainer[str]
    secrets: _containers.RepeatedScalarFieldContainer[str]
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, registry: _Optional[_Union[_model_registry_pb2.ModelRegistry, _Mapping]] = ..., origins: _Optional[_Iterable[str]] = ..., secrets: _Optional[_Iterable[str]] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class PutModelRequest(_message.Message):
    __slots__ = ("model", "revision")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    model: _model_spec_pb2.ModelSpec
    revision: int
    def __init__(self, model: _Optional[_Union[_model_spec_pb2.ModelSpec, _Mapping]] = ..., revision: _Optional[int] = ...) -> None: ...

class PutModelResponse(_message.Message):
    __slots__ = ("model", "warnings")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    model: _model_registry_pb2.StoredModel
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, model: _Optional[_Union[_model_registry_pb2.StoredModel, _Mapping]] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class DeleteModelRequest(_message.Message):
    __slots__ = ("model_id", "revision")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    revision: int
    def __init__(self, model_id: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class DeleteModelResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PutProviderRequest(_message.Message):
    __slots__ = ("provider", "revision")
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    provider: _model_registry_pb2.ProviderSpec
    revision: int
    def __init__(self, provider: _Optional[_Union[_model_registry_pb2.ProviderSpec, _Mapping]] = ..., revision: _Optional[int] = ...) -> None: ...

class PutProviderResponse(_message.Message):
    __slots__ = ("provider", "warnings")
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    provider: _model_registry_pb2.StoredProvider
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, provider: _Optional[_Union[_model_registry_pb2.StoredProvider, _Mapping]] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class DeleteProviderRequest(_message.Message):
    __slots__ = ("provider_id", "revision")
    PROVIDER_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    provider_id: str
    revision: int
    def __init__(self, provider_id: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class DeleteProviderResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ApplyModelRegistryRequest(_message.Message):
    __slots__ = ("providers", "models", "prune", "revision", "validate_only", "seen_revision")
    PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    PRUNE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    VALIDATE_ONLY_FIELD_NUMBER: _ClassVar[int]
    SEEN_REVISION_FIELD_NUMBER: _ClassVar[int]
    providers: _containers.RepeatedCompositeFieldContainer[_model_registry_pb2.ProviderSpec]
    models: _containers.RepeatedCompositeFieldContainer[_model_spec_pb2.ModelSpec]
    prune: bool
    revision: int
    validate_only: bool
    seen_revision: int
    def __init__(self, providers: _Optional[_Iterable[_Union[_model_registry_pb2.ProviderSpec, _Mapping]]] = ..., models: _Optional[_Iterable[_Union[_model_spec_pb2.ModelSpec, _Mapping]]] = ..., prune: _Optional[bool] = ..., revision: _Optional[int] = ..., validate_only: _Optional[bool] = ..., seen_revision: _Optional[int] = ...) -> None: ...

class ApplyModelRegistryResponse(_message.Message):
    __slots__ = ("changes", "registry", "warnings")
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    REGISTRY_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    changes: _containers.RepeatedCompositeFieldContainer[RegistryChange]
    registry: _model_registry_pb2.ModelRegistry
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, changes: _Optional[_Iterable[_Union[RegistryChange, _Mapping]]] = ..., registry: _Optional[_Union[_model_registry_pb2.ModelRegistry, _Mapping]] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class RegistryChange(_message.Message):
    __slots__ = ("kind", "id", "action")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    kind: str
    id: str
    action: str
    def __init__(self, kind: _Optional[str] = ..., id: _Optional[str] = ..., action: _Optional[str] = ...) -> None: ...
