import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from reeve.error.v1 import error_pb2 as _error_pb2
from reeve.tool.v1 import tool_pb2 as _tool_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FileKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FILE_KIND_UNSPECIFIED: _ClassVar[FileKind]
    FILE_KIND_FILE: _ClassVar[FileKind]
    FILE_KIND_FOLDER: _ClassVar[FileKind]
    FILE_KIND_LINK: _ClassVar[FileKind]
    FILE_KIND_OTHER: _ClassVar[FileKind]
FILE_KIND_UNSPECIFIED: FileKind
FILE_KIND_FILE: FileKind
FILE_KIND_FOLDER: FileKind
FILE_KIND_LINK: FileKind
FILE_KIND_OTHER: FileKind

class WorkspaceRecord(_message.Message):
    __slots__ = ("tenant", "id", "holder", "place", "folder", "revision", "saved_revision", "snapshot", "snapshot_size", "unsaved", "unsaved_more", "lost", "lost_more", "lost_snapshot", "last_used", "laid", "snapshots")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    FOLDER_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SAVED_REVISION_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_SIZE_FIELD_NUMBER: _ClassVar[int]
    UNSAVED_FIELD_NUMBER: _ClassVar[int]
    UNSAVED_MORE_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    LOST_MORE_FIELD_NUMBER: _ClassVar[int]
    LOST_SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    LAST_USED_FIELD_NUMBER: _ClassVar[int]
    LAID_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    id: str
    holder: str
    place: str
    folder: str
    revision: int
    saved_revision: int
    snapshot: str
    snapshot_size: int
    unsaved: _containers.RepeatedCompositeFieldContainer[_tool_pb2.FileChange]
    unsaved_more: int
    lost: _containers.RepeatedCompositeFieldContainer[_tool_pb2.FileChange]
    lost_more: int
    lost_snapshot: bool
    last_used: _timestamp_pb2.Timestamp
    laid: _containers.RepeatedCompositeFieldContainer[LaidRun]
    snapshots: _containers.RepeatedCompositeFieldContainer[WorkspaceSnapshot]
    def __init__(self, tenant: _Optional[str] = ..., id: _Optional[str] = ..., holder: _Optional[str] = ..., place: _Optional[str] = ..., folder: _Optional[str] = ..., revision: _Optional[int] = ..., saved_revision: _Optional[int] = ..., snapshot: _Optional[str] = ..., snapshot_size: _Optional[int] = ..., unsaved: _Optional[_Iterable[_Union[_tool_pb2.FileChange, _Mapping]]] = ..., unsaved_more: _Optional[int] = ..., lost: _Optional[_Iterable[_Union[_tool_pb2.FileChange, _Mapping]]] = ..., lost_more: _Optional[int] = ..., lost_snapshot: _Optional[bool] = ..., last_used: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., laid: _Optional[_Iterable[_Union[LaidRun, _Mapping]]] = ..., snapshots: _Optional[_Iterable[_Union[WorkspaceSnapshot, _Mapping]]] = ...) -> None: ...

class WorkspaceSnapshot(_message.Message):
    __slots__ = ("revision", "digest", "size_bytes", "saved_at")
    REVISION_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    SAVED_AT_FIELD_NUMBER: _ClassVar[int]
    revision: int
    digest: bytes
    size_bytes: int
    saved_at: _timestamp_pb2.Timestamp
    def __init__(self, revision: _Optional[int] = ..., digest: _Optional[bytes] = ..., size_bytes: _Optional[int] = ..., saved_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class LaidRun(_message.Message):
    __slots__ = ("run_id", "revision", "is_saved")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    IS_SAVED_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    revision: int
    is_saved: bool
    def __init__(self, run_id: _Optional[str] = ..., revision: _Optional[int] = ..., is_saved: _Optional[bool] = ...) -> None: ...

class WorkspaceRelease(_message.Message):
    __slots__ = ("tenant", "id", "only_ask")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    ONLY_ASK_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    id: str
    only_ask: bool
    def __init__(self, tenant: _Optional[str] = ..., id: _Optional[str] = ..., only_ask: _Optional[bool] = ...) -> None: ...

class WorkspaceReleased(_message.Message):
    __slots__ = ("is_released",)
    IS_RELEASED_FIELD_NUMBER: _ClassVar[int]
    is_released: bool
    def __init__(self, is_released: _Optional[bool] = ...) -> None: ...

class WorkspaceFilesRequest(_message.Message):
    __slots__ = ("tenant", "run_id", "workspace", "list", "read", "write")
    TENANT_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    WORKSPACE_FIELD_NUMBER: _ClassVar[int]
    LIST_FIELD_NUMBER: _ClassVar[int]
    READ_FIELD_NUMBER: _ClassVar[int]
    WRITE_FIELD_NUMBER: _ClassVar[int]
    tenant: str
    run_id: str
    workspace: _tool_pb2.Workspace
    list: ListOperation
    read: ReadOperation
    write: WriteOperation
    def __init__(self, tenant: _Optional[str] = ..., run_id: _Optional[str] = ..., workspace: _Optional[_Union[_tool_pb2.Workspace, _Mapping]] = ..., list: _Optional[_Union[ListOperation, _Mapping]] = ..., read: _Optional[_Union[ReadOperation, _Mapping]] = ..., write: _Optional[_Union[WriteOperation, _Mapping]] = ...) -> None: ...

class ListOperation(_message.Message):
    __slots__ = ("path", "recursive", "most", "after")
    PATH_FIELD_NUMBER: _ClassVar[int]
    RECURSIVE_FIELD_NUMBER: _ClassVar[int]
    MOST_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    path: str
    recursive: bool
    most: int
    after: str
    def __init__(self, path: _Optional[str] = ..., recursive: _Optional[bool] = ..., most: _Optional[int] = ..., after: _Optional[str] = ...) -> None: ...

class ReadOperation(_message.Message):
    __slots__ = ("path", "offset", "most_bytes", "version")
    PATH_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    MOST_BYTES_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    path: str
    offset: int
    most_bytes: int
    version: str
    def __init__(self, path: _Optional[str] = ..., offset: _Optional[int] = ..., most_bytes: _Optional[int] = ..., version: _Optional[str] = ...) -> None: ...

class WriteOperation(_message.Message):
    __slots__ = ("path", "content", "artifact_id")
    PATH_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    path: str
    content: bytes
    artifact_id: str
    def __init__(self, path: _Optional[str] = ..., content: _Optional[bytes] = ..., artifact_id: _Optional[str] = ...) -> None: ...

class WorkspaceFilesResponse(_message.Message):
    __slots__ = ("list", "part", "written_bytes", "refused")
    LIST_FIELD_NUMBER: _ClassVar[int]
    PART_FIELD_NUMBER: _ClassVar[int]
    WRITTEN_BYTES_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    list: FileList
    part: FilePart
    written_bytes: int
    refused: FilesRefused
    def __init__(self, list: _Optional[_Union[FileList, _Mapping]] = ..., part: _Optional[_Union[FilePart, _Mapping]] = ..., written_bytes: _Optional[int] = ..., refused: _Optional[_Union[FilesRefused, _Mapping]] = ...) -> None: ...

class FileList(_message.Message):
    __slots__ = ("entries", "next")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[FileEntry]
    next: str
    def __init__(self, entries: _Optional[_Iterable[_Union[FileEntry, _Mapping]]] = ..., next: _Optional[str] = ...) -> None: ...

class FilePart(_message.Message):
    __slots__ = ("content", "size_bytes", "version")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    content: bytes
    size_bytes: int
    version: str
    def __init__(self, content: _Optional[bytes] = ..., size_bytes: _Optional[int] = ..., version: _Optional[str] = ...) -> None: ...

class FilesRefused(_message.Message):
    __slots__ = ("kind", "message", "reason")
    KIND_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    kind: str
    message: str
    reason: _error_pb2.ErrorReason
    def __init__(self, kind: _Optional[str] = ..., message: _Optional[str] = ..., reason: _Optional[_Union[_error_pb2.ErrorReason, str]] = ...) -> None: ...

class FileEntry(_message.Message):
    __slots__ = ("path", "kind", "size_bytes")
    PATH_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    path: str
    kind: FileKind
    size_bytes: int
    def __init__(self, path: _Optional[str] = ..., kind: _Optional[_Union[FileKind, str]] = ..., size_bytes: _Optional[int] = ...) -> None: ...
