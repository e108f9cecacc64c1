/**
 * Makes text of a model or a tool safe for a terminal: removes control characters, which could move the cursor or forge
 * lines, and characters that change the text direction.
 */
export function plainText(text: string): string {
  return text.replace(unsafe, "");
}

/** Returns the text on one line, as plain text, truncated to `columns` characters. */
export function oneLine(text: string, columns: number): string {
  const line = plainText(text.replace(/\s+/g, " ")).trim();
  return line.length <= columns ? line : `${line.slice(0, Math.max(columns - 1, 0))}…`;
}

// Control characters except tab and line feed, and the bidirectional overrides and isolates.
const unsafe = /(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;
