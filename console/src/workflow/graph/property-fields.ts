import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isObject } from "../json-object.ts";

/** How a person enters a value. */
export type FieldKind =
  | { readonly kind: "text" }
  /** Of several lines. */
  | { readonly kind: "long-text" }
  | { readonly kind: "number" }
  | { readonly kind: "switch" }
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  /** Any other value, as JSON. A text that is no JSON stays a text if `takesText`. */
  | { readonly kind: "json"; readonly takesText: boolean };

/** A property of a node as a field of a form. */
export interface PropertyField {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly input: FieldKind;
}

/** The properties of nodes whose texts usually have several lines. */
const longTexts = new Set(["code", "instructions", "question", "prompt", "text", "content"]);

/** Returns the fields for the properties that a schema names, in its order. `inputs` has fields of its own. */
export function propertyFields(schema: JsonObject): readonly PropertyField[] {
  const { properties, required } = schema;
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(isObject(properties) ? properties : {})
    .filter(([name]) => name !== "inputs")
    .map(([name, value]) => ({
      name,
      description: descriptionOf(value),
      isRequired: needed.has(name),
      input: fieldOf(name, value),
    }));
}

/** Returns how a value that fits a schema is entered. */
export function fieldOf(name: string, schema: JsonValue): FieldKind {
  const { type, enum: choices } = isObject(schema) ? schema : {};
  if (Array.isArray(choices) && choices.every((each) => typeof each === "string")) {
    return { kind: "choice", choices };
  }
  if (type === "string") return { kind: longTexts.has(name) ? "long-text" : "text" };
  if (type === "number" || type === "integer") return { kind: "number" };
  if (type === "boolean") return { kind: "switch" };
  const types: readonly JsonValue[] = Array.isArray(type) ? type : [];
  return { kind: "json", takesText: type === undefined || types.includes("string") };
}

function descriptionOf(schema: JsonValue): string {
  const about = isObject(schema) ? schema["description"] : undefined;
  return typeof about === "string" ? about : "";
}

/** Returns the value that a person wrote as JSON, or why it is none. An empty text removes the value. */
export function readJson(
  text: string,
  takesText: boolean,
): { readonly value: JsonValue | undefined } | { readonly problem: string } {
  if (text.trim() === "") return { value: undefined };
  try {
    // JSON.parse gives only JSON.
    return { value: JSON.parse(text) as JsonValue };
  } catch (error) {
    if (takesText && !/^\s*[[{"]/.test(text)) return { value: text };
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns a value as the text that a person edits. */
export function shownJson(value: JsonValue | undefined, takesText: boolean): string {
  if (value === undefined) return "";
  // A text that looks like another value keeps its quotes.
  if (takesText && typeof value === "string" && readsAs(value, value)) return value;
  return JSON.stringify(value, undefined, 2);
}

function readsAs(text: string, value: JsonValue): boolean {
  const read = readJson(text, true);
  return "value" in read && read.value === value;
}
