import { mkdirSync, writeFileSync } from "node:fs";
import { file_buf_validate_validate } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { printProto } from "./print-proto.ts";

/**
 * Writes the proto files that our contracts import, relative to the root of the repository, which must be the current folder.
 * No npm package ships them, and buf would download them otherwise.
 */
export function writeProtoDependencies(): void {
  mkdirSync("proto/.deps/buf/validate", { recursive: true });
  writeFileSync("proto/.deps/buf/validate/validate.proto", printProto(file_buf_validate_validate));
}
