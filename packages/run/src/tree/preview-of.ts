/** Characters of arguments and results that a node of an execution tree shows. */
const nodeCharacters = 500;

/** Returns the first `characters` of a text. Never splits a character. */
export function previewOf(text: string, characters = nodeCharacters): string {
  // A character takes one or two code units.
  if (text.length <= characters) return text;
  return Array.from(text.slice(0, characters * 2))
    .slice(0, characters)
    .join("");
}
