let isWanted = false;

/** Says whether contents stand in spans; once, when a process starts. */
export function traceContent(wanted: boolean): void {
  isWanted = wanted;
}

/** `value` as an attribute, under `name`, where contents are wanted; else nothing, and `value` is not even made. */
export function contentAttribute(name: string, value: () => unknown): Record<string, string> {
  if (!isWanted) return {};
  const content = value();
  return { [name]: typeof content === "string" ? content : JSON.stringify(content) };
}
