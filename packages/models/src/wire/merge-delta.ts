/** A JSON object whose fields are not known. */
export type Fields = Record<string, unknown>;

/** An object that has no field but its own, whatever names a provider sends. */
export function emptyFields(): Fields {
  return Object.create(null) as Fields;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Adds what a chunk says to what was said before: texts are joined, lists are continued, of anything else the last value
 * counts. A null never takes back what was said. `except` names fields to leave out.
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
