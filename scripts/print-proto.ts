/** Prints a proto file from its descriptor, for dependencies whose npm package ships only generated code. */
import type { DescEnum, DescExtension, DescField, DescFile, DescMessage } from "@bufbuild/protobuf";
import { FieldDescriptorProto_Label, FieldDescriptorProto_Type } from "@bufbuild/protobuf/wkt";

/** Returns the source of `file` without comments and options, which other files do not need to import it. */
export function printProto(file: DescFile): string {
  const syntax = file.proto.syntax === "" ? "proto2" : file.proto.syntax;
  return [
    `syntax = "${syntax}";`,
    `package ${file.proto.package};`,
    ...file.proto.dependency.map((path) => `import "${path}";`),
    ...file.enums.map(printEnum),
    ...file.messages.map(printMessage),
    ...file.extensions.map(printExtension),
    "",
  ].join("\n");
}

function printMessage(message: DescMessage): string {
  const ranges = message.proto.extensionRange.map(
    (range) => `extensions ${range.start} to ${range.end > 536870911 ? "max" : range.end - 1};`,
  );
  const members = message.members.map((member) =>
    member.kind === "oneof"
      ? block(
          `oneof ${member.name}`,
          member.fields.map((field) => printField(field, false)),
        )
      : printField(member, true),
  );
  const nested = message.nestedMessages
    .filter((inner) => inner.proto.options?.mapEntry !== true)
    .map(printMessage);
  return block(`message ${message.name}`, [
    ...message.nestedEnums.map(printEnum),
    ...nested,
    ...members,
    ...ranges,
  ]);
}

function printEnum(desc: DescEnum): string {
  return block(
    `enum ${desc.name}`,
    desc.values.map((value) => `${value.name} = ${value.number};`),
  );
}

function printExtension(extension: DescExtension): string {
  return block(`extend .${extension.extendee.typeName}`, [printField(extension, true)]);
}

function printField(field: DescField | DescExtension, withLabel: boolean): string {
  if (field.fieldKind === "map") {
    const value = field.message ?? field.enum;
    const type = value ? `.${value.typeName}` : scalarName(field.scalar as number);
    return `map<${scalarName(field.mapKey)}, ${type}> ${field.name} = ${field.number};`;
  }
  return `${withLabel ? label(field) : ""}${typeName(field)} ${field.name} = ${field.number};`;
}

function label({ proto }: DescField | DescExtension): string {
  if (proto.label === FieldDescriptorProto_Label.REPEATED) return "repeated ";
  return proto.label === FieldDescriptorProto_Label.REQUIRED ? "required " : "optional ";
}

function typeName({ proto }: DescField | DescExtension): string {
  return proto.typeName === "" ? scalarName(proto.type) : proto.typeName;
}

function scalarName(type: number): string {
  const name = FieldDescriptorProto_Type[type];
  if (name === undefined) throw new Error(`no scalar type has the number ${type}`);
  return name.toLowerCase();
}

function block(head: string, lines: string[]): string {
  return `${head} {\n${lines.join("\n")}\n}`;
}
