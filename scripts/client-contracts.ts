import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type {
  DescriptorProto,
  FileDescriptorProto,
  FileDescriptorSet,
  MethodDescriptorProto,
} from "@bufbuild/protobuf/wkt";
import {
  FileDescriptorSetSchema,
  FileOptionsSchema,
  MethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import { writeProtoDependencies } from "./write-proto-dependencies.ts";

/** Files that only our own servers use: validation rules, roles and audit of methods, and the envelopes of the bus. */
export const serverOnly: ReadonlySet<string> = new Set([
  "buf/validate/validate.proto",
  "reeve/access/v1/role_option.proto",
  "reeve/audit/v1/audit_option.proto",
  "reeve/bus/v1/bus.proto",
  "google/protobuf/descriptor.proto",
]);

/**
 * Returns the contracts for clients as an encoded FileDescriptorSet, with or without comments. They have no custom options,
 * so that generated code depends only on the protobuf library of its language.
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
    writeProtoDependencies();
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
    // The default is the name of the file, which can also be the name of a message.
    javaOuterClassname: `${pascalCase(basename(file.name, ".proto"))}Proto`,
  });
  if (!comments) delete file.sourceCodeInfo;
  for (const message of file.messageType) stripMessage(message);
  for (const { method } of file.service) method.forEach(stripMethod);
}

function pascalCase(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function stripMessage(message: DescriptorProto): void {
  stripOptions(message);
  message.field.forEach(stripOptions);
  message.oneofDecl.forEach(stripOptions);
  message.nestedType.forEach(stripMessage);
}

function stripMethod(method: MethodDescriptorProto): void {
  stripOptions(method);
  const { options } = method;
  // Present options without content are not the same bytes as none.
  if (options !== undefined && toBinary(MethodOptionsSchema, options).length === 0)
    delete method.options;
}

/** Removes custom options, which are unknown fields in a file that was decoded without a registry. */
function stripOptions({ options }: Optioned): void {
  if (options !== undefined) delete options.$unknown;
}

interface Optioned {
  readonly options?: { $unknown?: unknown } | undefined;
}
