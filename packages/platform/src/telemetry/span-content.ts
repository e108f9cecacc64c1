let isEnabled = false;

/** Enables or disables content, such as prompts and tool results, in spans. Called once, when a process starts. */
export function traceContent(enabled: boolean): void {
  isEnabled = enabled;
}

/** Returns `value` as an attribute called `name` if content is enabled. Otherwise returns nothing and does not compute `value`. */
export function contentAttribute(name: string, value: () => unknown): Record<string, string> {
  if (!isEnabled) return {};
  const content = value();
  return { [name]: typeof content === "string" ? content : JSON.stringify(content) };
}
