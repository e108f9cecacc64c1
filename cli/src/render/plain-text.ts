/**
 * Makes text of a model or a tool safe for a terminal: removes control characters, which could move the cursor or forge
 * lines, and characters that change the text direction. Joiners, which some scripts need, stay.
 */
export function plainText(text: string): string {
  return text.replace(unsafe, "");
}

/** Returns JSON with the characters that `plainText` removes, and all invisible ones, as escape sequences of a JSON string. */
export function escapeUnsafe(json: string): string {
  // A character beyond the basic plane has two code units, and so two escape sequences.
  return json.replace(hidden, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** Returns the text on one line, as plain text, truncated to `columns` characters. */
export function oneLine(text: string, columns: number): string {
  const line = plainText(text.replace(/\s+/g, " ")).trim();
  return line.length <= columns ? line : `${line.slice(0, Math.max(columns - 1, 0))}…`;
}

// Control characters except tab and line feed, separators of lines, and what changes the direction of text.
const unsafe = /(?![\n\t])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const hidden = /(?![\n\t])\p{Cc}|[\p{Cf}\u2028\u2029]/gu;
