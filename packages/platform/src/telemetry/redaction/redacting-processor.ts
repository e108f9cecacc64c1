import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace";
import { processRedaction } from "./redaction.ts";

/** Exports spans in batches, without secrets that `processRedaction` recognizes. */
export class RedactingProcessor extends BatchSpanProcessor {
  override onEnd(span: ReadableSpan): void {
    const { attributes, status, events } = span;
    // The span has ended: nobody else changes it.
    for (const each of [attributes, status, ...events, ...events.map(attributesOf)]) redact(each);
    super.onEnd(span);
  }
}

function attributesOf({ attributes }: ReadableSpan["events"][number]): object {
  return attributes ?? {};
}

/** Replaces the texts of an object, and the lists of texts. */
function redact(fields: object): void {
  for (const [key, value] of Object.entries(fields) as [string, unknown][]) {
    const isText = typeof value === "string" || Array.isArray(value);
    if (isText) Reflect.set(fields, key, processRedaction.json(value));
  }
}
