/** A JSON object whose fields are not known. */
export type Fields = Record<string, unknown>;

/** Creates an object without a prototype, so that a provider may send fields of any name. */
export function emptyFields(): Fields {
  return Object.create(null) as Fields;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Merges a delta into `target`: concatenates strings, appends to lists, and replaces all other values, but never with null.
 * Ignores the fields in `except`.
 */
export function mergeDelta(target: Fields, delta: Fields, except: ReadonlySet<string>): void {
  for (const key of Object.keys(delta)) {
    if (except.has(key)) continue;
    const before = target[key];
    const value = delta[key];
    if (typeof before === "string" && typeof value === "string") target[key] = before + value;
    else if (Array.isArray(before) && Array.isArray(value)) before.push(...value);
    else if (value !== null || before === undefined) target[key] = value;
  }
}
