from reeve.agent.v1 import agent_spec_pb2 as _agent_spec_pb2
from reeve.agent.v1 import offered_plugin_pb2 as _offered_plugin_pb2
from reeve.agent.v1 import skill_pb2 as _skill_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ModelSpec(_message.Message):
    __slots__ = ("id", "provider", "upstream_name", "context_window", "max_output_tokens", "modalities", "knowledge_cutoff", "pricing", "capabilities", "generates", "partial_images", "is_stored", "has_stored_provider")
    ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_NAME_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MODALITIES_FIELD_NUMBER: _ClassVar[int]
    KNOWLEDGE_CUTOFF_FIELD_NUMBER: _ClassVar[int]
    PRICING_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    GENERATES_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_IMAGES_FIELD_NUMBER: _ClassVar[int]
    IS_STORED_FIELD_NUMBER: _ClassVar[int]
    HAS_STORED_PROVIDER_FIELD_NUMBER: _ClassVar[int]
    id: str
    provider: str
    upstream_name: str
    context_window: int
    max_output_tokens: int
    modalities: _containers.RepeatedScalarFieldContainer[str]
    knowledge_cutoff: str
    pricing: Pricing
    capabilities: ProviderCapabilities
    generates: _containers.RepeatedScalarFieldContainer[str]
    partial_images: int
    is_stored: bool
    has_stored_provider: bool
    def __init__(self, id: _Optional[str] = ..., provider: _Optional[str] = ..., upstream_name: _Optional[str] = ..., context_window: _Optional[int] = ..., max_output_tokens: _Optional[int] = ..., modalities: _Optional[_Iterable[str]] = ..., knowledge_cutoff: _Optional[str] = ..., pricing: _Optional[_Union[Pricing, _Mapping]] = ..., capabilities: _Optional[_Union[ProviderCapabilities, _Mapping]] = ..., generates: _Optional[_Iterable[str]] = ..., partial_images: _Optional[int] = ..., is_stored: _Optional[bool] = ..., has_stored_provider: _Optional[bool] = ...) -> None: ...

class Pricing(_message.Message):
    __slots__ = ("input_usd_per_million", "output_usd_per_million", "cached_input_usd_per_million", "cache_write_input_usd_per_million", "long_requests", "source", "as_of", "usd_per_image", "usd_per_million_characters")
    INPUT_USD_PER_MILLION_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_USD_PER_MILLION_FIELD_NUMBER: _ClassVar[int]
    CACHED_INPUT_USD_PER_MILLION_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_INPUT_USD_PER_MILLION_FIELD_NUMBER: _ClassVar[int]
    LONG_REQUESTS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    USD_PER_IMAGE_FIELD_NUMBER: _ClassVar[int]
    USD_PER_MILLION_CHARACTERS_FIELD_NUMBER: _ClassVar[int]
    input_usd_per_million: float
    output_usd_per_million: float
    cached_input_usd_per_million: float
    cache_write_input_usd_per_million: float
    long_requests: _containers.RepeatedCompositeFieldContainer[LongRequestPricing]
    source: str
    as_of: str
    usd_per_image: float
    usd_per_million_characters: float
    def __init__(self, input_usd_per_million: _Optional[float] = ..., output_usd_per_million: _Optional[float] = ..., cached_input_usd_per_million: _Optional[float] = ..., cache_write_input_usd_per_million: _Optional[float] = ..., long_requests: _Optional[_Iterable[_Union[LongRequestPricing, _Mapping]]] = ..., source: _Optional[str] = ..., as_of: _Optional[str] = ..., usd_per_image: _Optional[float] = ..., usd_per_million_characters: _Optional[float] = ...) -> None: ...

class LongRequestPricing(_message.Message):
    __slots__ = ("above_input_tokens", "input_usd_per_million", "output_usd_per_million", "cached_input_usd_per_million", "cache_write_input_usd_per_million")
    ABOVE_INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    INPUT_USD_PER_MILLION_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_USD_PER_MILLION_FIELD_NUMBER: _ClassVar[int]
    CACHED_INPUT_USD_PER_MILLION_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_INPUT_USD_PER_MILLION_FIELD_NUMBER: _ClassVar[int]
    above_input_tokens: int
    input_usd_per_million: float
    output_usd_per_million: float
    cached_input_usd_per_million: float
    cache_write_input_usd_per_million: float
    def __init__(self, above_input_tokens: _Optional[int] = ..., input_usd_per_million: _Optional[float] = ..., output_usd_per_million: _Optional[float] = ..., cached_input_usd_per_million: _Optional[float] = ..., cache_write_input_usd_per_million: _Optional[float] = ...) -> None: ...

class ProviderCapabilities(_message.Message):
    __slots__ = ("tools", "parallel_tool_calls", "reasoning", "temperature", "counts_tokens")
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    PARALLEL_TOOL_CALLS_FIELD_NUMBER: _ClassVar[int]
    REASONING_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    COUNTS_TOKENS_FIELD_NUMBER: _ClassVar[int]
    tools: bool
    parallel_tool_calls: bool
    reasoning: bool
    temperature: bool
    counts_tokens: bool
    def __init__(self, tools: _Optional[bool] = ..., parallel_tool_calls: _Optional[bool] = ..., reasoning: _Optional[bool] = ..., temperature: _Optional[bool] = ..., counts_tokens: _Optional[bool] = ...) -> None: ...

class ProviderDescriptor(_message.Message):
    __slots__ = ("name", "capabilities", "scripted", "upstream_names", "price_list", "modalities", "generates", "is_stored")
    NAME_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    SCRIPTED_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_NAMES_FIELD_NUMBER: _ClassVar[int]
    PRICE_LIST_FIELD_NUMBER: _ClassVar[int]
    MODALITIES_FIELD_NUMBER: _ClassVar[int]
    GENERATES_FIELD_NUMBER: _ClassVar[int]
    IS_STORED_FIELD_NUMBER: _ClassVar[int]
    name: str
    capabilities: ProviderCapabilities
    scripted: bool
    upstream_names: _containers.RepeatedScalarFieldContainer[str]
    price_list: str
    modalities: _containers.RepeatedScalarFieldContainer[str]
    generates: _containers.RepeatedScalarFieldContainer[str]
    is_stored: bool
    def __init__(self, name: _Optional[str] = ..., capabilities: _Optional[_Union[ProviderCapabilities, _Mapping]] = ..., scripted: _Optional[bool] = ..., upstream_names: _Optional[_Iterable[str]] = ..., price_list: _Optional[str] = ..., modalities: _Optional[_Iterable[str]] = ..., generates: _Optional[_Iterable[str]] = ..., is_stored: _Optional[bool] = ...) -> None: ...

class StoredProviderRules(_message.Message):
    __slots__ = ("origins", "secrets", "apis")
    ORIGINS_FIELD_NUMBER: _ClassVar[int]
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    APIS_FIELD_NUMBER: _ClassVar[int]
    origins: _containers.RepeatedScalarFieldContainer[str]
    secrets: _containers.RepeatedCompositeFieldContainer[ProviderSecret]
    apis: _containers.RepeatedCompositeFieldContainer[ProviderDescriptor]
    def __init__(self, origins: _Optional[_Iterable[str]] = ..., secrets: _Optional[_Iterable[_Union[ProviderSecret, _Mapping]]] = ..., apis: _Optional[_Iterable[_Union[ProviderDescriptor, _Mapping]]] = ...) -> None: ...

class ProviderSecret(_message.Message):
    __slots__ = ("name", "origins")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ORIGINS_FIELD_NUMBER: _ClassVar[int]
    name: str
    origins: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., origins: _Optional[_Iterable[str]] = ...) -> None: ...

class ModelCatalog(_message.Message):
    __slots__ = ("models", "providers", "maxima", "retry", "skills", "plugins", "node_registry", "stored_providers")
    MODELS_FIELD_NUMBER: _ClassVar[int]
    PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    MAXIMA_FIELD_NUMBER: _ClassVar[int]
    RETRY_FIELD_NUMBER: _ClassVar[int]
    SKILLS_FIELD_NUMBER: _ClassVar[int]
    PLUGINS_FIELD_NUMBER: _ClassVar[int]
    NODE_REGISTRY_FIELD_NUMBER: _ClassVar[int]
    STORED_PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[ModelSpec]
    providers: _containers.RepeatedCompositeFieldContainer[ProviderDescriptor]
    maxima: _agent_spec_pb2.Limits
    retry: _agent_spec_pb2.RetryPolicy
    skills: _containers.RepeatedCompositeFieldContainer[_skill_pb2.SkillDescriptor]
    plugins: _containers.RepeatedCompositeFieldContainer[_offered_plugin_pb2.OfferedPlugin]
    node_registry: bool
    stored_providers: StoredProviderRules
    def __init__(self, models: _Optional[_Iterable[_Union[ModelSpec, _Mapping]]] = ..., providers: _Optional[_Iterable[_Union[ProviderDescriptor, _Mapping]]] = ..., maxima: _Optional[_Union[_agent_spec_pb2.Limits, _Mapping]] = ..., retry: _Optional[_Union[_agent_spec_pb2.RetryPolicy, _Mapping]] = ..., skills: _Optional[_Iterable[_Union[_skill_pb2.SkillDescriptor, _Mapping]]] = ..., plugins: _Optional[_Iterable[_Union[_offered_plugin_pb2.OfferedPlugin, _Mapping]]] = ..., node_registry: _Optional[bool] = ..., stored_providers: _Optional[_Union[StoredProviderRules, _Mapping]] = ...) -> None: ...
