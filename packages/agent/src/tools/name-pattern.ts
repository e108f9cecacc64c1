/**
 * A pattern for names of tools: anchored, case-sensitive, with `*` for any number of characters and `\` as the escape
 * character.
 */
export interface NamePattern {
  /** The pattern as it was written. */
  readonly text: string;
  matches(name: string): boolean;
}

/** Parses a pattern. Returns undefined when it is empty or ends with an escape character. */
export function parseNamePattern(text: string): NamePattern | undefined {
  if (text === "") return undefined;
  // Each piece is a literal character, or undefined for `*`.
  const pieces: (string | undefined)[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character === "*") pieces.push(undefined);
    else if (character !== "\\") pieces.push(character);
    else {
      const escaped = text[++at];
      if (escaped === undefined) return undefined;
      pieces.push(escaped);
    }
  }
  return { text, matches: (name) => matches(pieces, name) };
}

/** Returns a name that a pattern matches: its text, with nothing in place of each `*`. Empty for `*` alone. */
export function shortestMatch({ text }: NamePattern): string {
  return text.replaceAll(/\\(.)|\*/gsu, "$1");
}

/** Backtracks to the last star only, so that no name takes more than quadratic time. */
function matches(pieces: readonly (string | undefined)[], name: string): boolean {
  let piece = 0;
  let at = 0;
  let star = -1;
  let resume = 0;
  while (at < name.length) {
    const expected = pieces[piece];
    if (piece < pieces.length && expected === undefined) {
      star = piece++;
      resume = at;
    } else if (expected !== undefined && expected === name[at]) {
      piece++;
      at++;
    } else if (star >= 0) {
      piece = star + 1;
      at = ++resume;
    } else return false;
  }
  return pieces.slice(piece).every((rest) => rest === undefined);
}
