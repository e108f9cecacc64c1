import { processRedaction } from "./redaction/redaction.ts";

let isEnabled = false;

/** Enables or disables content, such as prompts and tool results, in spans. Called once, when a process starts. */
export function traceContent(enabled: boolean): void {
  isEnabled = enabled;
}

/**
 * Returns `value` as an attribute called `name` if content is enabled, without secrets that `processRedaction` recognizes.
 * Otherwise returns nothing and does not compute `value`.
 */
export function contentAttribute(name: string, value: () => unknown): Record<string, string> {
  if (!isEnabled) return {};
  const content = value();
  // Here and not only when the span ends: by then a long value was cut, perhaps in the middle of a secret.
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return { [name]: processRedaction.text(text) };
}
