import { execFileSync } from "node:child_process";
import { mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { plainRoutes } from "@reeve/gateway/rpc/plain-routes";
import { openapiDocument } from "./openapi/openapi-document.ts";

const path = "services/gateway/src/rpc/openapi.json";

/** Writes the OpenAPI document of the addresses without a protocol. With `isCheck`, only compares it with the file. */
export function writeOpenapi({ isCheck }: { readonly isCheck: boolean }): void {
  const document = `${JSON.stringify(openapiDocument(plainRoutes, contracts()), undefined, 2)}\n`;
  if (!isCheck) writeFileSync(path, document);
  else if (readFileSync(path, "utf8") !== document) {
    console.error(`${path} is out of date with the contracts; run: npm run gen`);
    process.exitCode = 1;
  }
}

/** Returns the contracts with their comments, which generated code does not have. */
function contracts() {
  using folder = mkdtempDisposableSync(join(tmpdir(), "reeve-openapi-"));
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
