import type { JsonValue } from "@bufbuild/protobuf";
import type { ScriptContext } from "./script-context.ts";

/** Thrown for a quotation that refers to nothing in the prompt. */
export class UnknownQuotation extends Error {
  override readonly name = "UnknownQuotation";
}

const quotation = /\{\{\s*(input|files|tools\.[^\s{}]+)\s*\}\}/gu;
const onlyQuotation = /^\{\{\s*(input|files|tools\.[^\s{}]+)\s*\}\}$/u;

/** Replaces the quotations in a text. Throws UnknownQuotation. */
export function fillText(text: string, context: ScriptContext): string {
  return text.replace(quotation, (_, reference: string) => {
    const value = quoted(reference, context);
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}

/** Replaces the quotations in every string of a value. A string that is only a quotation becomes the quoted value. */
export function fillValue(value: JsonValue, context: ScriptContext): JsonValue {
  if (typeof value === "string") {
    const reference = onlyQuotation.exec(value)?.[1];
    return reference === undefined ? fillText(value, context) : quoted(reference, context);
  }
  if (Array.isArray(value)) return value.map((item) => fillValue(item, context));
  if (typeof value !== "object" || value === null) return value;
  const filled = Object.entries(value).map(([key, item]) => [key, fillValue(item, context)]);
  return Object.fromEntries(filled);
}

function quoted(reference: string, { input, files, results }: ScriptContext): JsonValue {
  if (reference === "input") return input;
  if (reference === "files") return files;
  const [, tool = "", ...path] = reference.split(".");
  const content = results.get(tool)?.content;
  if (content === undefined) {
    throw new UnknownQuotation(`{{ ${reference} }}: ${tool} has given no result`);
  }
  if (path.length === 0) return content;
  let value: unknown = parsed(content, reference, tool);
  for (const key of path) {
    // Only own properties, because the prototype is not part of the value.
    const entry: unknown =
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? Reflect.get(value, key)
        : undefined;
    if (entry === undefined) {
      throw new UnknownQuotation(`{{ ${reference} }}: the result of ${tool} has no ${key}`);
    }
    value = entry;
  }
  // Every path in a result of JSON.parse leads to JSON.
  return value as JsonValue;
}

function parsed(content: string, reference: string, tool: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    throw new UnknownQuotation(`{{ ${reference} }}: the result of ${tool} is not JSON`);
  }
}
