import { execFileSync } from "node:child_process";
import { mkdtempDisposableSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileRegistry } from "@bufbuild/protobuf";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

/** Returns the contracts with their comments, which generated code does not have. Runs `buf`. */
export function contractsWithComments(): FileRegistry {
  using folder = mkdtempDisposableSync(join(tmpdir(), "reeve-contracts-"));
  const file = join(folder.path, "contracts.binpb");
  execFileSync("buf", [
    "build",
    "--path",
    "proto/reeve",
    "--as-file-descriptor-set",
    "--output",
    file,
  ]);
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(file)));
}
