import type { DescFile, DescMessage, DescService, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { clone, create, createFileRegistry } from "@bufbuild/protobuf";
import type { DescriptorProto } from "@bufbuild/protobuf/wkt";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";

/** The field that a newer contract has in every message: its name, and its number. */
export const addedField = { name: "added_later", jsonName: "addedLater", number: 15_001 } as const;

/** Returns a service as a newer client knows it: every message of Reeve has one field more. */
export function newerContract(service: DescService): DescService {
  const files = withDependencies(service.file).map((file) => {
    const proto = clone(FileDescriptorProtoSchema, file.proto);
    if (proto.package.startsWith("reeve.")) proto.messageType.forEach(addField);
    return proto;
  });
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: files }));
  const newer = registry.getService(service.typeName);
  if (newer === undefined) throw new Error(`${service.typeName} is not in its own file`);
  return newer;
}

function withDependencies(file: DescFile, seen = new Set<DescFile>()): readonly DescFile[] {
  if (seen.has(file)) return [];
  seen.add(file);
  return [...file.dependencies.flatMap((each) => withDependencies(each, seen)), file];
}

function addField(message: DescriptorProto): void {
  if (message.options?.mapEntry === true) return;
  message.nestedType.forEach(addField);
  message.field.push(
    create(FieldDescriptorProtoSchema, {
      ...addedField,
      label: FieldDescriptorProto_Label.OPTIONAL,
      type: FieldDescriptorProto_Type.STRING,
    }),
  );
}

/** A message within a request: its path, and a request that sets only the added field, there. */
export interface Place {
  readonly path: string;
  readonly request: JsonObject;
}

/** Returns all messages of Reeve within a request of a newer contract. */
export function placesIn(schema: DescMessage): readonly Place[] {
  const here = { path: "", request: { [addedField.name]: "only" } };
  const inner = schema.fields.flatMap((field) => {
    if (!field.message?.typeName.startsWith("reeve.")) return [];
    const [suffix, wrapped] = container(field.fieldKind);
    return placesIn(field.message).map(({ path, request }) => ({
      path: `${field.name}${suffix}${path === "" ? "" : `.${path}`}`,
      request: { [field.name]: wrapped(request) },
    }));
  });
  return [here, ...inner];
}

function container(kind: string): readonly [string, (request: JsonObject) => JsonValue] {
  switch (kind) {
    case "list":
      return ["[0]", (request) => [request]];
    case "map":
      return ['["key"]', (request) => ({ key: request })];
    default:
      return ["", (request) => request];
  }
}
