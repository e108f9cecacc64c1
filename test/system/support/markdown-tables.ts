/** Returns the rows of all tables in a Markdown text, by their first cell. Each row maps column headings to cells. */
export function markdownRows(text: string): ReadonlyMap<string, Readonly<Record<string, string>>> {
  const rows = new Map<string, Record<string, string>>();
  let head: readonly string[] | undefined;
  for (const line of text.split("\n")) {
    if (!line.startsWith("|")) {
      head = undefined;
      continue;
    }
    const cells = line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("\\|", "|"));
    if (head === undefined) head = cells;
    else if (cells.some((cell) => cell !== "---")) {
      const named = head.map((name, index) => [name, cells[index] ?? ""]);
      rows.set(cells[0] ?? "", Object.fromEntries(named) as Record<string, string>);
    }
  }
  return rows;
}
