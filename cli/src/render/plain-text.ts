/**
 * Text of a model or a tool, made safe for a terminal: without control characters, which could move the cursor or forge
 * lines, and without marks that turn the direction of writing.
 */
export function plainText(text: string): string {
  return text.replace(unsafe, "");
}

/** The text on one line, at most `columns` characters long. */
export function oneLine(text: string, columns: number): string {
  const line = plainText(text.replace(/\s+/g, " ")).trim();
  return line.length <= columns ? line : `${line.slice(0, Math.max(columns - 1, 0))}…`;
}

// Control characters but tab and line feed, and the bidirectional overrides and isolates.
const unsafe = /(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;
