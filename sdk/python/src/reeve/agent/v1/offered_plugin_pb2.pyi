from reeve.plugin.v1 import plugin_pb2 as _plugin_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OfferedPlugin(_message.Message):
    __slots__ = ("plugin_descriptor", "digest", "origin", "ignores_failures", "problem")
    PLUGIN_DESCRIPTOR_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    IGNORES_FAILURES_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    plugin_descriptor: _plugin_pb2.PluginDescriptor
    digest: str
    origin: str
    ignores_failures: bool
    problem: str
    def __init__(self, plugin_descriptor: _Optional[_Union[_plugin_pb2.PluginDescriptor, _Mapping]] = ..., digest: _Optional[str] = ..., origin: _Optional[str] = ..., ignores_failures: _Optional[bool] = ..., problem: _Optional[str] = ...) -> None: ...
