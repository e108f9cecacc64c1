import datetime

from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Ranking(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RANKING_UNSPECIFIED: _ClassVar[Ranking]
    RANKING_BM25: _ClassVar[Ranking]
    RANKING_HYBRID: _ClassVar[Ranking]
RANKING_UNSPECIFIED: Ranking
RANKING_BM25: Ranking
RANKING_HYBRID: Ranking

class Collection(_message.Message):
    __slots__ = ("collection_id", "title", "readers", "created_by", "created_at", "updated_at", "document_count", "text_bytes", "reader_groups", "revision")
    COLLECTION_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    READERS_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    TEXT_BYTES_FIELD_NUMBER: _ClassVar[int]
    READER_GROUPS_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    collection_id: str
    title: str
    readers: _containers.RepeatedScalarFieldContainer[str]
    created_by: str
    created_at: _timestamp_pb2.Timestamp
    updated_at: _timestamp_pb2.Timestamp
    document_count: int
    text_bytes: int
    reader_groups: _containers.RepeatedScalarFieldContainer[str]
    revision: int
    def __init__(self, collection_id: _Optional[str] = ..., title: _Optional[str] = ..., readers: _Optional[_Iterable[str]] = ..., created_by: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., document_count: _Optional[int] = ..., text_bytes: _Optional[int] = ..., reader_groups: _Optional[_Iterable[str]] = ..., revision: _Optional[int] = ...) -> None: ...

class Document(_message.Message):
    __slots__ = ("document_id", "name", "media_type", "size_bytes", "sha256", "text_bytes", "passage_count", "page_count", "added_by", "added_at", "embedding_model", "embedding_tokens", "embedding_cost_usd", "origin")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    TEXT_BYTES_FIELD_NUMBER: _ClassVar[int]
    PASSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    PAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    ADDED_BY_FIELD_NUMBER: _ClassVar[int]
    ADDED_AT_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_MODEL_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_TOKENS_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_COST_USD_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    name: str
    media_type: str
    size_bytes: int
    sha256: str
    text_bytes: int
    passage_count: int
    page_count: int
    added_by: str
    added_at: _timestamp_pb2.Timestamp
    embedding_model: str
    embedding_tokens: int
    embedding_cost_usd: float
    origin: DocumentOrigin
    def __init__(self, document_id: _Optional[str] = ..., name: _Optional[str] = ..., media_type: _Optional[str] = ..., size_bytes: _Optional[int] = ..., sha256: _Optional[str] = ..., text_bytes: _Optional[int] = ..., passage_count: _Optional[int] = ..., page_count: _Optional[int] = ..., added_by: _Optional[str] = ..., added_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., embedding_model: _Optional[str] = ..., embedding_tokens: _Optional[int] = ..., embedding_cost_usd: _Optional[float] = ..., origin: _Optional[_Union[DocumentOrigin, _Mapping]] = ...) -> None: ...

class DocumentOrigin(_message.Message):
    __slots__ = ("url", "etag", "last_modified", "media_type")
    URL_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    LAST_MODIFIED_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    url: str
    etag: str
    last_modified: str
    media_type: str
    def __init__(self, url: _Optional[str] = ..., etag: _Optional[str] = ..., last_modified: _Optional[str] = ..., media_type: _Optional[str] = ...) -> None: ...

class Passage(_message.Message):
    __slots__ = ("collection_id", "document_id", "document_name", "page", "first_line", "last_line", "text", "score")
    COLLECTION_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_NAME_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    FIRST_LINE_FIELD_NUMBER: _ClassVar[int]
    LAST_LINE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    collection_id: str
    document_id: str
    document_name: str
    page: int
    first_line: int
    last_line: int
    text: str
    score: float
    def __init__(self, collection_id: _Optional[str] = ..., document_id: _Optional[str] = ..., document_name: _Optional[str] = ..., page: _Optional[int] = ..., first_line: _Optional[int] = ..., last_line: _Optional[int] = ..., text: _Optional[str] = ..., score: _Optional[float] = ...) -> None: ...

class Retrieval(_message.Message):
    __slots__ = ("ranking", "embedding_model", "embedding_tokens", "embedding_cost_usd", "warnings")
    RANKING_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_MODEL_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_TOKENS_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_COST_USD_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    ranking: Ranking
    embedding_model: str
    embedding_tokens: int
    embedding_cost_usd: float
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, ranking: _Optional[_Union[Ranking, str]] = ..., embedding_model: _Optional[str] = ..., embedding_tokens: _Optional[int] = ..., embedding_cost_usd: _Optional[float] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class CollectionRecord(_message.Message):
    __slots__ = ("collection", "documents")
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    collection: Collection
    documents: _containers.RepeatedCompositeFieldContainer[StoredDocument]
    def __init__(self, collection: _Optional[_Union[Collection, _Mapping]] = ..., documents: _Optional[_Iterable[_Union[StoredDocument, _Mapping]]] = ...) -> None: ...

class StoredDocument(_message.Message):
    __slots__ = ("document", "object", "vectors")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    VECTORS_FIELD_NUMBER: _ClassVar[int]
    document: Document
    object: str
    vectors: StoredVectors
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., object: _Optional[str] = ..., vectors: _Optional[_Union[StoredVectors, _Mapping]] = ...) -> None: ...

class StoredVectors(_message.Message):
    __slots__ = ("model", "dimensions", "object", "tokens", "cost_usd", "embedded_at", "replaced_models")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    DIMENSIONS_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    EMBEDDED_AT_FIELD_NUMBER: _ClassVar[int]
    REPLACED_MODELS_FIELD_NUMBER: _ClassVar[int]
    model: str
    dimensions: int
    object: str
    tokens: int
    cost_usd: float
    embedded_at: _timestamp_pb2.Timestamp
    replaced_models: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, model: _Optional[str] = ..., dimensions: _Optional[int] = ..., object: _Optional[str] = ..., tokens: _Optional[int] = ..., cost_usd: _Optional[float] = ..., embedded_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., replaced_models: _Optional[_Iterable[str]] = ...) -> None: ...

class DocumentVectors(_message.Message):
    __slots__ = ("values", "nonce")
    VALUES_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    values: bytes
    nonce: bytes
    def __init__(self, values: _Optional[bytes] = ..., nonce: _Optional[bytes] = ...) -> None: ...

class DocumentText(_message.Message):
    __slots__ = ("passages", "nonce")
    PASSAGES_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    passages: _containers.RepeatedCompositeFieldContainer[DocumentPassage]
    nonce: bytes
    def __init__(self, passages: _Optional[_Iterable[_Union[DocumentPassage, _Mapping]]] = ..., nonce: _Optional[bytes] = ...) -> None: ...

class DocumentPassage(_message.Message):
    __slots__ = ("text", "page", "first_line", "last_line")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    FIRST_LINE_FIELD_NUMBER: _ClassVar[int]
    LAST_LINE_FIELD_NUMBER: _ClassVar[int]
    text: str
    page: int
    first_line: int
    last_line: int
    def __init__(self, text: _Optional[str] = ..., page: _Optional[int] = ..., first_line: _Optional[int] = ..., last_line: _Optional[int] = ...) -> None: ...

class CreateCollectionRequest(_message.Message):
    __slots__ = ("collection_id", "title", "readers", "reader_groups")
    COLLECTION_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    READERS_FIELD_NUMBER: _ClassVar[int]
    READER_GROUPS_FIELD_NUMBER: _ClassVar[int]
    collection_id: str
    title: str
    readers: _containers.RepeatedScalarFieldContainer[str]
    reader_groups: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, collection_id: _Optional[str] = ..., title: _Optional[str] = ..., readers: _Optional[_Iterable[str]] = ..., reader_groups: _Optional[_Iterable[str]] = ...) -> None: ...

class CreateCollectionResponse(_message.Message):
    __slots__ = ("collection",)
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    collection: Collection
    def __init__(self, collection: _Optional[_Union[Collection, _Mapping]] = ...) -> None: ...

class UpdateCollectionRequest(_message.Message):
    __slots__ = ("collection_id", "title", "readers", "reader_groups", "update_mask", "revision")
    COLLECTION_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    READERS_FIELD_NUMBER: _ClassVar[int]
    READER_GROUPS_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    collection_id: str
    title: str
    readers: _containers.RepeatedScalarFieldContainer[str]
    reader_groups: _containers.RepeatedScalarFieldContainer[str]
    update_mask: _field_mask_pb2.FieldMask
    revision: int
    def __init__(self, collection_id: _Optional[str] = ..., title: _Optional[str] = ..., readers: _Optional[_Iterable[str]] = ..., reader_groups: _Optional[_Iterable[str]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., revision: _Optional[int] = ...) -> None: ...

class UpdateCollectionResponse(_message.Message):
    __slots__ = ("collection",)
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    collection: Collection
    def __init__(self, collection: _Optional[_Union[Collection, _Mapping]] = ...) -> None: ...

class GetCollectionRequest(_message.Message):
    __slots__ = ("collection_id",)
    COLLECTION_ID_FIELD_NUMBER: _ClassVar[int]
    collection_id: str
    def __init__(self, collection_id: _Optional[str] = ...) -> None: ...

class GetCollectionResponse(_message.Message):
    __slots__ = ("collection",)
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    collection: Collection
    def __init__(self, collection: _Optional[_Union[Collection, _Mapping]] = ...) -> None: ...

class ListCollectionsRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListCollectionsResponse(_message.Message):
    __slots__ = ("collections", "next_page_token")
    COLLECTIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    collections: _containers.RepeatedCompositeFieldContainer[Collection]
    next_page_token: str
    def __init__(self, collections: _Optional[_Iterable[_Union[Collection, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DeleteCollectionRequest(_message.Message):
    __slots__ = ("collection_id",)
    COLLECTION_ID_FIELD_NUMBER: _ClassVar[int]
    collection_id: str
    def __init__(self, collection_id: _Optional[str] = ...) -> None: ...

class DeleteCollectionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class AddDocumentRequest(_message.Message):
    __slots__ = ("collection_id", "name", "media_type", "content", "artifact_id", "url", "discard_artifact")
    COLLECTION_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    DISCARD_ARTIFACT_FIELD_NUMBER: _ClassVar[int]
    collection_id: str
    name: str
    media_type: str
    content: bytes
    artifact_id: str
    url: str
    discard_artifact: bool
    def __init__(self, collection_id: _Optional[str] = ..., name: _Optional[str] = ..., media_type: _Optional[str] = ..., content: _Optional[bytes] = ..., artifact_id: _Optional[str] = ..., url: _Optional[str] = ..., discard_artifact: _Optional[bool] = ...) -> None: ...

class AddDocumentResponse(_message.Message):
    __slots__ = ("document", "warnings")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    document: Document
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class RefreshDocumentRequest(_message.Message):
    __slots__ = ("collection_id", "document_id")
    COLLECTION_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    collection_id: str
    document_id: str
    def __init__(self, collection_id: _Optional[str] = ..., document_id: _Optional[str] = ...) -> None: ...

class RefreshDocumentResponse(_message.Message):
    __slots__ = ("document", "changed", "warnings")
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    document: Document
    changed: bool
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, document: _Optional[_Union[Document, _Mapping]] = ..., changed: _Optional[bool] = ..., warnings: _Optional[_Iterable[str]] = ...) -> None: ...

class ListDocumentsRequest(_message.Message):
    __slots__ = ("collection_id", "page_size", "page_token")
    COLLECTION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    collection_id: str
    page_size: int
    page_token: str
    def __init__(self, collection_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDocumentsResponse(_message.Message):
    __slots__ = ("documents", "next_page_token")
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    documents: _containers.RepeatedCompositeFieldContainer[Document]
    next_page_token: str
    def __init__(self, documents: _Optional[_Iterable[_Union[Document, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DeleteDocumentRequest(_message.Message):
    __slots__ = ("collection_id", "document_id")
    COLLECTION_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    collection_id: str
    document_id: str
    def __init__(self, collection_id: _Optional[str] = ..., document_id: _Optional[str] = ...) -> None: ...

class DeleteDocumentResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SearchCollectionsRequest(_message.Message):
    __slots__ = ("collection_ids", "query", "limit")
    COLLECTION_IDS_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    collection_ids: _containers.RepeatedScalarFieldContainer[str]
    query: str
    limit: int
    def __init__(self, collection_ids: _Optional[_Iterable[str]] = ..., query: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class SearchCollectionsResponse(_message.Message):
    __slots__ = ("passages", "retrieval")
    PASSAGES_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_FIELD_NUMBER: _ClassVar[int]
    passages: _containers.RepeatedCompositeFieldContainer[Passage]
    retrieval: Retrieval
    def __init__(self, passages: _Optional[_Iterable[_Union[Passage, _Mapping]]] = ..., retrieval: _Optional[_Union[Retrieval, _Mapping]] = ...) -> None: ...
