from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetReceiptRequest(_message.Message):
    __slots__ = ("run_id", "call_id", "omit_content")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    OMIT_CONTENT_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    call_id: str
    omit_content: bool
    def __init__(self, run_id: _Optional[str] = ..., call_id: _Optional[str] = ..., omit_content: _Optional[bool] = ...) -> None: ...

class GetReceiptResponse(_message.Message):
    __slots__ = ("envelope",)
    ENVELOPE_FIELD_NUMBER: _ClassVar[int]
    envelope: Envelope
    def __init__(self, envelope: _Optional[_Union[Envelope, _Mapping]] = ...) -> None: ...

class Envelope(_message.Message):
    __slots__ = ("payload", "payload_type", "signatures")
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_TYPE_FIELD_NUMBER: _ClassVar[int]
    SIGNATURES_FIELD_NUMBER: _ClassVar[int]
    payload: bytes
    payload_type: str
    signatures: _containers.RepeatedCompositeFieldContainer[Signature]
    def __init__(self, payload: _Optional[bytes] = ..., payload_type: _Optional[str] = ..., signatures: _Optional[_Iterable[_Union[Signature, _Mapping]]] = ...) -> None: ...

class Signature(_message.Message):
    __slots__ = ("keyid", "sig")
    KEYID_FIELD_NUMBER: _ClassVar[int]
    SIG_FIELD_NUMBER: _ClassVar[int]
    keyid: str
    sig: bytes
    def __init__(self, keyid: _Optional[str] = ..., sig: _Optional[bytes] = ...) -> None: ...

class ListReceiptKeysRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListReceiptKeysResponse(_message.Message):
    __slots__ = ("keys",)
    KEYS_FIELD_NUMBER: _ClassVar[int]
    keys: _containers.RepeatedCompositeFieldContainer[ReceiptKey]
    def __init__(self, keys: _Optional[_Iterable[_Union[ReceiptKey, _Mapping]]] = ...) -> None: ...

class ReceiptKey(_message.Message):
    __slots__ = ("key_id", "public_key_pem", "is_signing")
    KEY_ID_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEY_PEM_FIELD_NUMBER: _ClassVar[int]
    IS_SIGNING_FIELD_NUMBER: _ClassVar[int]
    key_id: str
    public_key_pem: str
    is_signing: bool
    def __init__(self, key_id: _Optional[str] = ..., public_key_pem: _Optional[str] = ..., is_signing: _Optional[bool] = ...) -> None: ...
