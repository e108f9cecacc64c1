import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** How deep a protobuf message is followed. Above the limit of the parser, which names the reason. */
const maxLevels = 1_100;

const quote = 0x22;
const backslash = 0x5c;
/** `,`, `[`, and `{`: one of them precedes each value of an object or list. */
const separators: ReadonlySet<number> = new Set([0x2c, 0x5b, 0x7b]);

/** Returns about how many values a JSON text has, without parsing it. Stops above `max`. */
export function countJsonValues(text: Uint8Array, max: number): number {
  let count = 0;
  for (let at = 0; at < text.length && count <= max; at++) {
    const byte = text[at] ?? 0;
    if (byte === quote) at = endOfString(text, at);
    else if (separators.has(byte)) count++;
  }
  return count;
}

function endOfString(text: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== quote) at += text[at] === backslash ? 2 : 1;
  return at;
}

/**
 * Returns how many fields, list elements, and map entries a protobuf message has, at any depth, without building it. Stops
 * above `max`. Throws an error if the bytes are no such message.
 */
export function countProtobufValues(schema: DescMessage, bytes: Uint8Array, max: number): number {
  const reader = new BinaryReader(bytes);
  return countFields(shapeOf(schema), { reader, end: bytes.length, max, levels: maxLevels }, 0);
}

/** What a field of a message contains: messages of a shape, a packed list, or a value without parts. */
type Shape = (fieldNumber: number) => Shape | "packed" | undefined;

interface Part {
  readonly reader: BinaryReader;
  readonly end: number;
  readonly max: number;
  readonly levels: number;
}

function countFields(shape: Shape, part: Part, before: number): number {
  const { reader, end, max, levels } = part;
  if (levels === 0) throw new RangeError("nested too deeply");
  let count = before;
  while (reader.pos < end && count <= max) {
    const [number, wireType] = reader.tag();
    count++;
    if (wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, number);
      continue;
    }
    const length = reader.uint32();
    const inner = { reader, end: reader.pos + length, max, levels: levels - 1 };
    if (inner.end > end) throw new RangeError("premature end");
    const content = shape(number);
    // Each byte of a packed list may be an element.
    if (content === "packed") count += length;
    else if (content !== undefined) count = countFields(content, inner, count);
    reader.pos = inner.end;
  }
  return count;
}

const shapes = new WeakMap<DescMessage, Shape>();

function shapeOf(message: DescMessage): Shape {
  const known = shapes.get(message);
  if (known !== undefined) return known;
  const fields = new Map(message.fields.map((field) => [field.number, field]));
  const shape: Shape = (fieldNumber) => {
    const field = fields.get(fieldNumber);
    return field && contentOf(field);
  };
  shapes.set(message, shape);
  return shape;
}

function contentOf(field: DescField): Shape | "packed" | undefined {
  switch (field.fieldKind) {
    case "message":
      return shapeOf(field.message);
    case "map": {
      const { message } = field;
      // An entry of a map is a message with the key as field 1 and the value as field 2.
      return (fieldNumber) => (fieldNumber === 2 && message ? shapeOf(message) : undefined);
    }
    case "list":
      if (field.listKind === "message") return shapeOf(field.message);
      return field.listKind === "scalar" && unpacked.has(field.scalar) ? undefined : "packed";
    case "scalar":
    case "enum":
      return undefined;
  }
}

/** The scalar types whose lists have one field for each element. */
const unpacked: ReadonlySet<ScalarType> = new Set([ScalarType.STRING, ScalarType.BYTES]);
