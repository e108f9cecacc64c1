import type { DescField, DescMessage, JsonValue, MessageInitShape } from "@bufbuild/protobuf";
import { create, fromJson, ScalarType } from "@bufbuild/protobuf";
import { DurationSchema, ListValueSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import * as fc from "fast-check";

const anyText = fc.string({ unit: "binary", maxLength: 12 });
// A JavaScript object cannot have an ordinary key with this name.
const anyKey = anyText.filter((text) => text !== "__proto__");

const wellKnown: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  [DurationSchema.typeName]: fc
    .record({ seconds: fc.bigInt(0n, 10n ** 9n), nanos: fc.nat(999_999_999) })
    .map((init) => create(DurationSchema, init)),
  [ListValueSchema.typeName]: fc
    .array(anyText, { maxLength: 3 })
    .map((strings) => fromJson(ListValueSchema, strings)),
  [ValueSchema.typeName]: fc
    .jsonValue({ maxDepth: 2 })
    .map((json) => fromJson(ValueSchema, json as JsonValue)),
};

/** Generates any message of a schema, in the form that `create` takes: any fields, with any values. */
export function anyMessage<Schema extends DescMessage>(
  schema: Schema,
): fc.Arbitrary<MessageInitShape<Schema>> {
  const fields = schema.fields.map((field) => [field.localName, anyField(field)] as const);
  return fc
    .record(Object.fromEntries(fields), { requiredKeys: [] })
    .map((init) => init as MessageInitShape<Schema>);
}

function anyField(field: DescField): fc.Arbitrary<unknown> {
  const { message, scalar } = field;
  const one = message === undefined ? anyScalar(scalar) : anySubmessage(message);
  switch (field.fieldKind) {
    case "list":
      return fc.array(one, { maxLength: 3 });
    case "map":
      return fc.dictionary(anyKey, one, { maxKeys: 3, noNullPrototype: true });
    case "scalar":
    case "message":
    case "enum":
      return one;
  }
}

function anySubmessage(message: DescMessage): fc.Arbitrary<unknown> {
  return wellKnown[message.typeName] ?? anyMessage(message).map((init) => create(message, init));
}

function anyScalar(scalar: ScalarType | undefined): fc.Arbitrary<unknown> {
  switch (scalar) {
    case ScalarType.STRING:
      return anyText;
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.DOUBLE:
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    default:
      return fc.nat();
  }
}
