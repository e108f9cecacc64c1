import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type {
  DescriptorProto,
  FileDescriptorProto,
  FileDescriptorSet,
} from "@bufbuild/protobuf/wkt";
import { FileDescriptorSetSchema, FileOptionsSchema } from "@bufbuild/protobuf/wkt";

/** Files that only say something to our own servers: how messages are checked, and how they travel on the bus. */
const serverOnly: ReadonlySet<string> = new Set([
  "buf/validate/validate.proto",
  "reeve/bus/v1/bus.proto",
  "google/protobuf/descriptor.proto",
]);

/**
 * The contracts as clients need them: without custom options, so that generated code depends on nothing but the protobuf
 * library of its language. Encoded as a FileDescriptorSet, with comments or without.
 */
export function clientContracts({ comments }: { readonly comments: boolean }): Uint8Array {
  const all = readContracts();
  const file = all.file.filter(({ name }) => !serverOnly.has(name));
  for (const each of file) {
    if (each.package.startsWith("reeve.")) strip(each, comments);
    else delete each.sourceCodeInfo;
  }
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file }));
}

function readContracts(): FileDescriptorSet {
  const folder = mkdtempSync(join(tmpdir(), "reeve-sdk-"));
  try {
    const path = join(folder, "contracts.binpb");
    const args = ["--path", "proto/reeve", "--as-file-descriptor-set", "-o", path];
    execFileSync("buf", ["build", ...args], { stdio: "inherit" });
    return fromBinary(FileDescriptorSetSchema, readFileSync(path));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function strip(file: FileDescriptorProto, comments: boolean): void {
  file.dependency = file.dependency.filter((name) => !serverOnly.has(name));
  file.extension = [];
  file.options = create(FileOptionsSchema, {
    goPackage: `reeve.dev/sdk/go/gen/${file.name.replace(/\/[^/]+$/, "")};${file.package.split(".").slice(1).join("")}`,
    javaPackage: `dev.${file.package}`,
    javaMultipleFiles: true,
    // A file may bear the name of a message.
    javaOuterClassname: `${pascalCase(basename(file.name, ".proto"))}Proto`,
  });
  if (!comments) delete file.sourceCodeInfo;
  for (const message of file.messageType) stripMessage(message);
}

function pascalCase(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function stripMessage(message: DescriptorProto): void {
  withoutExtensions(message);
  message.field.forEach(withoutExtensions);
  message.oneofDecl.forEach(withoutExtensions);
  message.nestedType.forEach(stripMessage);
}

/** Extensions of a file that was read without a registry are unknown fields of its options. */
function withoutExtensions({ options }: Optioned): void {
  if (options !== undefined) delete options.$unknown;
}

interface Optioned {
  readonly options?: { $unknown?: unknown } | undefined;
}
