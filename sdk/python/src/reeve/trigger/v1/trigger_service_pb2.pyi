from reeve.trigger.v1 import trigger_pb2 as _trigger_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateTriggerRequest(_message.Message):
    __slots__ = ("spec",)
    SPEC_FIELD_NUMBER: _ClassVar[int]
    spec: _trigger_pb2.TriggerSpec
    def __init__(self, spec: _Optional[_Union[_trigger_pb2.TriggerSpec, _Mapping]] = ...) -> None: ...

class CreateTriggerResponse(_message.Message):
    __slots__ = ("trigger", "webhook_secret")
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    WEBHOOK_SECRET_FIELD_NUMBER: _ClassVar[int]
    trigger: _trigger_pb2.Trigger
    webhook_secret: str
    def __init__(self, trigger: _Optional[_Union[_trigger_pb2.Trigger, _Mapping]] = ..., webhook_secret: _Optional[str] = ...) -> None: ...

class UpdateTriggerRequest(_message.Message):
    __slots__ = ("spec", "revision")
    SPEC_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    spec: _trigger_pb2.TriggerSpec
    revision: int
    def __init__(self, spec: _Optional[_Union[_trigger_pb2.TriggerSpec, _Mapping]] = ..., revision: _Optional[int] = ...) -> None: ...

class UpdateTriggerResponse(_message.Message):
    __slots__ = ("trigger",)
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    trigger: _trigger_pb2.Trigger
    def __init__(self, trigger: _Optional[_Union[_trigger_pb2.Trigger, _Mapping]] = ...) -> None: ...

class GetTriggerRequest(_message.Message):
    __slots__ = ("trigger_id",)
    TRIGGER_ID_FIELD_NUMBER: _ClassVar[int]
    trigger_id: str
    def __init__(self, trigger_id: _Optional[str] = ...) -> None: ...

class GetTriggerResponse(_message.Message):
    __slots__ = ("trigger",)
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    trigger: _trigger_pb2.Trigger
    def __init__(self, trigger: _Optional[_Union[_trigger_pb2.Trigger, _Mapping]] = ...) -> None: ...

class ListTriggersRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListTriggersResponse(_message.Message):
    __slots__ = ("triggers", "next_page_token")
    TRIGGERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    triggers: _containers.RepeatedCompositeFieldContainer[_trigger_pb2.Trigger]
    next_page_token: str
    def __init__(self, triggers: _Optional[_Iterable[_Union[_trigger_pb2.Trigger, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DeleteTriggerRequest(_message.Message):
    __slots__ = ("trigger_id",)
    TRIGGER_ID_FIELD_NUMBER: _ClassVar[int]
    trigger_id: str
    def __init__(self, trigger_id: _Optional[str] = ...) -> None: ...

class DeleteTriggerResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class PauseTriggerRequest(_message.Message):
    __slots__ = ("trigger_id",)
    TRIGGER_ID_FIELD_NUMBER: _ClassVar[int]
    trigger_id: str
    def __init__(self, trigger_id: _Optional[str] = ...) -> None: ...

class PauseTriggerResponse(_message.Message):
    __slots__ = ("trigger",)
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    trigger: _trigger_pb2.Trigger
    def __init__(self, trigger: _Optional[_Union[_trigger_pb2.Trigger, _Mapping]] = ...) -> None: ...

class ResumeTriggerRequest(_message.Message):
    __slots__ = ("trigger_id",)
    TRIGGER_ID_FIELD_NUMBER: _ClassVar[int]
    trigger_id: str
    def __init__(self, trigger_id: _Optional[str] = ...) -> None: ...

class ResumeTriggerResponse(_message.Message):
    __slots__ = ("trigger",)
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    trigger: _trigger_pb2.Trigger
    def __init__(self, trigger: _Optional[_Union[_trigger_pb2.Trigger, _Mapping]] = ...) -> None: ...

class FireTriggerRequest(_message.Message):
    __slots__ = ("trigger_id", "request_id", "body")
    TRIGGER_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    trigger_id: str
    request_id: str
    body: bytes
    def __init__(self, trigger_id: _Optional[str] = ..., request_id: _Optional[str] = ..., body: _Optional[bytes] = ...) -> None: ...

class FireTriggerResponse(_message.Message):
    __slots__ = ("firing",)
    FIRING_FIELD_NUMBER: _ClassVar[int]
    firing: _trigger_pb2.Firing
    def __init__(self, firing: _Optional[_Union[_trigger_pb2.Firing, _Mapping]] = ...) -> None: ...

class RotateTriggerSecretRequest(_message.Message):
    __slots__ = ("trigger_id",)
    TRIGGER_ID_FIELD_NUMBER: _ClassVar[int]
    trigger_id: str
    def __init__(self, trigger_id: _Optional[str] = ...) -> None: ...

class RotateTriggerSecretResponse(_message.Message):
    __slots__ = ("webhook_secret",)
    WEBHOOK_SECRET_FIELD_NUMBER: _ClassVar[int]
    webhook_secret: str
    def __init__(self, webhook_secret: _Optional[str] = ...) -> None: ...

class ListFiringsRequest(_message.Message):
    __slots__ = ("trigger_id",)
    TRIGGER_ID_FIELD_NUMBER: _ClassVar[int]
    trigger_id: str
    def __init__(self, trigger_id: _Optional[str] = ...) -> None: ...

class ListFiringsResponse(_message.Message):
    __slots__ = ("firings",)
    FIRINGS_FIELD_NUMBER: _ClassVar[int]
    firings: _containers.RepeatedCompositeFieldContainer[_trigger_pb2.Firing]
    def __init__(self, firings: _Optional[_Iterable[_Union[_trigger_pb2.Firing, _Mapping]]] = ...) -> None: ...
