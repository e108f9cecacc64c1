/** Characters of scripts that put no spaces between words. */
const spaceless = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/u;
const wordOrSpaceless =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+|[\p{L}\p{N}]+/gu;

/** What is read of a text: more than that says nothing new about it. */
const mostCharacters = 4_000;
const mostWords = 200;

/**
 * The words of a text as memories are compared by them: without case and accents; of scripts without spaces, each pair of
 * neighbouring characters. Any text has some, or none; none is too long.
 */
export function wordsOf(text: string): readonly string[] {
  const folded = text.slice(0, mostCharacters).normalize("NFKD").replaceAll(/\p{M}/gu, "");
  const words = folded.toLowerCase().match(wordOrSpaceless) ?? [];
  return words
    .flatMap((word) => (spaceless.test(word) ? pairsOf(word) : [word]))
    .slice(0, mostWords);
}

function pairsOf(word: string): readonly string[] {
  const characters = Array.from(word);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}
