/** Characters of scripts that put no spaces between words. */
const spaceless = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/u;
const wordOrSpaceless =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+|[\p{L}\p{N}]+/gu;

/** English words that are in every text and tell nothing of it; those of other languages tell little by their frequency. */
const common = new Set(
  `a about all also am an and any are as at be been but by can could did do does for from had has have he her here him his
  how i if in into is it its just me more my no not of on or our out she should so some than that the their them then there
  they this to too up us was we were what when where which who why will with would you your`.split(
    /\s+/,
  ),
);

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
    .filter((word) => !common.has(word))
    .flatMap((word) => (spaceless.test(word) ? pairsOf(word) : [word]))
    .slice(0, mostWords);
}

function pairsOf(word: string): readonly string[] {
  const characters = Array.from(word);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}
