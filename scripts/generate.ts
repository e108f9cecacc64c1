/** Generates the TypeScript of the contracts: `npm run gen`. With `--check` it only says whether that would change anything. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { file_buf_validate_validate } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { printProto } from "./print-proto.ts";

writeProtoDependencies();
if (process.argv[2] !== "--deps-only") execFileSync("buf", ["generate"], { stdio: "inherit" });

/** Writes the sources that our contracts import and that no package ships, so that buf needs no registry. */
function writeProtoDependencies(): void {
  mkdirSync("proto/.deps/buf/validate", { recursive: true });
  writeFileSync("proto/.deps/buf/validate/validate.proto", printProto(file_buf_validate_validate));
}
