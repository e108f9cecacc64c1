/**
 * Makes text of a model or a tool safe for a terminal: removes control characters, which could move the cursor or forge
 * lines, and characters that change the text direction.
 */
export function plainText(text: string): string {
  return text.replace(unsafe, "");
}

/** Returns JSON with the characters that `plainText` removes as escape sequences of a JSON string. */
export function escapeUnsafe(json: string): string {
  return json.replace(unsafe, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Returns the text on one line, as plain text, truncated to `columns` characters. */
export function oneLine(text: string, columns: number): string {
  const line = plainText(text.replace(/\s+/g, " ")).trim();
  return line.length <= columns ? line : `${line.slice(0, Math.max(columns - 1, 0))}…`;
}

// Control characters except tab and line feed, and the bidirectional overrides and isolates.
const unsafe = /(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;
