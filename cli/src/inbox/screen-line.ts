/** A line of a full screen, as plain text without control characters, and how it looks. */
export interface ScreenLine {
  readonly text: string;
  readonly look?: "bold" | "dim" | "red" | "green" | "yellow" | "inverse" | undefined;
}

/** Returns how many columns a text takes at most: characters beyond ASCII may take two. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += character > "~" ? 2 : 1;
  return columns;
}

/** Returns the start of a text that fits into some columns, with an ellipsis if it is cut. */
export function fitted(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  return `${wrapped(text, Math.max(columns - 2, 1))[0] ?? ""}…`;
}

/** Returns a text in lines that fit into some columns. Nothing of it is lost. A tab becomes two spaces. */
export function wrapped(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const line of text.replaceAll("\t", "  ").split("\n")) {
    let [part, left] = ["", columns];
    for (const character of line) {
      const width = columnsOf(character);
      if (width > left && part !== "") {
        lines.push(part);
        [part, left] = ["", columns];
      }
      part += character;
      left -= width;
    }
    lines.push(part);
  }
  return lines;
}
