import { fileDesc } from "@bufbuild/protobuf/codegenv2";

/**
 * Stands for the file of validation rules, which all contracts import: the gateway checks requests, and the page would parse 130 KB of
 * descriptors before its first view. The build replaces the file by this one.
 */
// A file without messages, named `buf/validate/validate.proto`, in the notation of generated code.
export const file_buf_validate_validate = fileDesc(
  btoa("\n\u001bbuf/validate/validate.proto\u0062\u0006proto3"),
);
