/** A pattern over names of tools: anchored, case-sensitive, `*` for any run of characters, `\` to escape. */
export interface NamePattern {
  matches(name: string): boolean;
}

/** Parses a pattern. Undefined when it is empty or ends in an escape of nothing. */
export function parseNamePattern(text: string): NamePattern | undefined {
  if (text === "") return undefined;
  // One entry a piece: a literal character, or undefined for `*`.
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
  return { matches: (name) => matches(pieces, name) };
}

/** Goes back to the last star only, so that no name takes more than quadratic time. */
function matches(pieces: readonly (string | undefined)[], name: string): boolean {
  let piece = 0;
  let at = 0;
  let star = -1;
  let resume = 0;
  while (at < name.length) {
    const wanted = pieces[piece];
    if (piece < pieces.length && wanted === undefined) {
      star = piece++;
      resume = at;
    } else if (wanted !== undefined && wanted === name[at]) {
      piece++;
      at++;
    } else if (star >= 0) {
      piece = star + 1;
      at = ++resume;
    } else return false;
  }
  return pieces.slice(piece).every((rest) => rest === undefined);
}
