import datetime

from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CeremonyKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CEREMONY_KIND_UNSPECIFIED: _ClassVar[CeremonyKind]
    CEREMONY_KIND_INVITATION: _ClassVar[CeremonyKind]
    CEREMONY_KIND_REGISTRATION: _ClassVar[CeremonyKind]
    CEREMONY_KIND_CONFIRMATION: _ClassVar[CeremonyKind]
CEREMONY_KIND_UNSPECIFIED: CeremonyKind
CEREMONY_KIND_INVITATION: CeremonyKind
CEREMONY_KIND_REGISTRATION: CeremonyKind
CEREMONY_KIND_CONFIRMATION: CeremonyKind

class PersonPasskeys(_message.Message):
    __slots__ = ("subject", "passkeys")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    PASSKEYS_FIELD_NUMBER: _ClassVar[int]
    subject: str
    passkeys: _containers.RepeatedCompositeFieldContainer[StoredPasskey]
    def __init__(self, subject: _Optional[str] = ..., passkeys: _Optional[_Iterable[_Union[StoredPasskey, _Mapping]]] = ...) -> None: ...

class StoredPasskey(_message.Message):
    __slots__ = ("passkey", "public_key", "counter", "transports", "rp_id")
    PASSKEY_FIELD_NUMBER: _ClassVar[int]
    PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
    COUNTER_FIELD_NUMBER: _ClassVar[int]
    TRANSPORTS_FIELD_NUMBER: _ClassVar[int]
    RP_ID_FIELD_NUMBER: _ClassVar[int]
    passkey: Passkey
    public_key: bytes
    counter: int
    transports: _containers.RepeatedScalarFieldContainer[str]
    rp_id: str
    def __init__(self, passkey: _Optional[_Union[Passkey, _Mapping]] = ..., public_key: _Optional[bytes] = ..., counter: _Optional[int] = ..., transports: _Optional[_Iterable[str]] = ..., rp_id: _Optional[str] = ...) -> None: ...

class PersonCeremonies(_message.Message):
    __slots__ = ("subject", "ceremonies")
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    CEREMONIES_FIELD_NUMBER: _ClassVar[int]
    subject: str
    ceremonies: _containers.RepeatedCompositeFieldContainer[PasskeyCeremony]
    def __init__(self, subject: _Optional[str] = ..., ceremonies: _Optional[_Iterable[_Union[PasskeyCeremony, _Mapping]]] = ...) -> None: ...

class PasskeyCeremony(_message.Message):
    __slots__ = ("kind", "subject", "expires_at", "nonce", "invited_by", "secret_digest")
    KIND_FIELD_NUMBER: _ClassVar[int]
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    NONCE_FIELD_NUMBER: _ClassVar[int]
    INVITED_BY_FIELD_NUMBER: _ClassVar[int]
    SECRET_DIGEST_FIELD_NUMBER: _ClassVar[int]
    kind: CeremonyKind
    subject: str
    expires_at: _timestamp_pb2.Timestamp
    nonce: bytes
    invited_by: str
    secret_digest: bytes
    def __init__(self, kind: _Optional[_Union[CeremonyKind, str]] = ..., subject: _Optional[str] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., nonce: _Optional[bytes] = ..., invited_by: _Optional[str] = ..., secret_digest: _Optional[bytes] = ...) -> None: ...

class Passkey(_message.Message):
    __slots__ = ("credential_id", "name", "registered_at", "invited_by", "last_used_at")
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    REGISTERED_AT_FIELD_NUMBER: _ClassVar[int]
    INVITED_BY_FIELD_NUMBER: _ClassVar[int]
    LAST_USED_AT_FIELD_NUMBER: _ClassVar[int]
    credential_id: str
    name: str
    registered_at: _timestamp_pb2.Timestamp
    invited_by: str
    last_used_at: _timestamp_pb2.Timestamp
    def __init__(self, credential_id: _Optional[str] = ..., name: _Optional[str] = ..., registered_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., invited_by: _Optional[str] = ..., last_used_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class InvitePasskeyRequest(_message.Message):
    __slots__ = ("person_id",)
    PERSON_ID_FIELD_NUMBER: _ClassVar[int]
    person_id: str
    def __init__(self, person_id: _Optional[str] = ...) -> None: ...

class InvitePasskeyResponse(_message.Message):
    __slots__ = ("invitation", "expires_at")
    INVITATION_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    invitation: str
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, invitation: _Optional[str] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class BeginPasskeyRegistrationRequest(_message.Message):
    __slots__ = ("invitation",)
    INVITATION_FIELD_NUMBER: _ClassVar[int]
    invitation: str
    def __init__(self, invitation: _Optional[str] = ...) -> None: ...

class BeginPasskeyRegistrationResponse(_message.Message):
    __slots__ = ("options",)
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    options: _struct_pb2.Struct
    def __init__(self, options: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class RegisterPasskeyRequest(_message.Message):
    __slots__ = ("invitation", "name", "response")
    INVITATION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    invitation: str
    name: str
    response: _struct_pb2.Struct
    def __init__(self, invitation: _Optional[str] = ..., name: _Optional[str] = ..., response: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class RegisterPasskeyResponse(_message.Message):
    __slots__ = ("passkey",)
    PASSKEY_FIELD_NUMBER: _ClassVar[int]
    passkey: Passkey
    def __init__(self, passkey: _Optional[_Union[Passkey, _Mapping]] = ...) -> None: ...

class ListPasskeysRequest(_message.Message):
    __slots__ = ("person_id",)
    PERSON_ID_FIELD_NUMBER: _ClassVar[int]
    person_id: str
    def __init__(self, person_id: _Optional[str] = ...) -> None: ...

class ListPasskeysResponse(_message.Message):
    __slots__ = ("passkeys",)
    PASSKEYS_FIELD_NUMBER: _ClassVar[int]
    passkeys: _containers.RepeatedCompositeFieldContainer[Passkey]
    def __init__(self, passkeys: _Optional[_Iterable[_Union[Passkey, _Mapping]]] = ...) -> None: ...

class RevokePasskeyRequest(_message.Message):
    __slots__ = ("person_id", "credential_id")
    PERSON_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    person_id: str
    credential_id: str
    def __init__(self, person_id: _Optional[str] = ..., credential_id: _Optional[str] = ...) -> None: ...

class RevokePasskeyResponse(_message.Message):
    __slots__ = ("existed",)
    EXISTED_FIELD_NUMBER: _ClassVar[int]
    existed: bool
    def __init__(self, existed: _Optional[bool] = ...) -> None: ...

class BeginConfirmationRequest(_message.Message):
    __slots__ = ("approval_id", "call_digest", "edited_arguments", "break_glass")
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_DIGEST_FIELD_NUMBER: _ClassVar[int]
    EDITED_ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    BREAK_GLASS_FIELD_NUMBER: _ClassVar[int]
    approval_id: str
    call_digest: str
    edited_arguments: _struct_pb2.Struct
    break_glass: bool
    def __init__(self, approval_id: _Optional[str] = ..., call_digest: _Optional[str] = ..., edited_arguments: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., break_glass: _Optional[bool] = ...) -> None: ...

class BeginConfirmationResponse(_message.Message):
    __slots__ = ("options",)
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    options: _struct_pb2.Struct
    def __init__(self, options: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...
