import type { DescField, DescMessage } from "@bufbuild/protobuf";

/** Returns the field whose name differs from `name` only by its spelling, or by an `s` at its end. */
export function similarField({ fields }: DescMessage, name: string): DescField | undefined {
  const plain = name.replaceAll(/[_-]/g, "").toLowerCase();
  return fields.find((field) => {
    const known = field.name.replaceAll("_", "");
    return known === plain || known === `${plain}s` || `${known}s` === plain;
  });
}
