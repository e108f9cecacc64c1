/** A possible mistake in a spec, which never blocks. */
export interface SpecWarning {
  /** The path of the field, such as `allowed_tools[0]`. */
  readonly field: string;
  /** What is probably wrong and how to fix it. */
  readonly description: string;
  /** The constant that identifies the warning, in UPPER_SNAKE_CASE. Empty: none does. */
  readonly reason: string;
}

/** Returns a warning as one text. */
export function warningText({ field, description }: SpecWarning): string {
  return `${field}: ${description}`;
}

/** Returns the warning that a text of the form `field: description` expresses. */
export function warningOf(text: string): SpecWarning {
  const [, field = "", description = text] =
    /^([a-z_]+(?:\[\d+\]|\.[a-z_]+)*): (.*)$/s.exec(text) ?? [];
  return { field, description, reason: "" };
}
