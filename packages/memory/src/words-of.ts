/** Matches letters and marks of scripts that put no spaces between words, or attach particles to them. */
const spaceless = String.raw`[[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]&&[\p{L}\p{M}]]`;

const startsSpaceless = new RegExp(`^${spaceless}`, "v");
const pieces = new RegExp(
  String.raw`${spaceless}+|[[\p{L}\p{N}]--${spaceless}][[\p{L}\p{N}\p{M}]--${spaceless}]*|\p{Extended_Pictographic}`,
  "gv",
);

/** Marks that writers may leave out: accents, and the vowels of Hebrew and Arabic. Marks of other scripts count as letters. */
const accents =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]/gu;

/**
 * English words that occur in every text, the endings of their contractions, and the word that most memories start with. Common
 * words of other languages get a low weight because of their frequency.
 */
const common = new Set(
  `a about all also am an and any are as at be been but by can could d did do does doesn don for from had has have he her
  here him his how i if in into is isn it its just ll m me more my no not of on or our out re s she should so some t than
  that the their them then there they this to too up us user users ve was we were what when where which who why will with
  would you your`.split(/\s+/),
);

/** Of a longer query, this many characters at each end are read: the question comes before or after the text that it is about. */
export const endCharacters = 4_096;

/** A memory is shorter than this, but a few characters expand to a whole phrase when they are normalized. */
const maxFolded = 2 * endCharacters;

/**
 * Returns the words of a text by which memories are compared, without case and accents. For scripts without spaces these are each
 * pair of adjacent characters, and each ideograph. Accepts any text; the result may be empty.
 */
export function wordsOf(text: string): readonly string[] {
  const folded = text.normalize("NFKD").replaceAll(accents, "").normalize("NFC").toLowerCase();
  const words: string[] = [];
  for (const [piece] of folded.slice(0, maxFolded).matchAll(pieces)) {
    if (startsSpaceless.test(piece)) addPairs(piece, words);
    else if (!common.has(piece)) words.push(piece);
  }
  return words;
}

/** Returns the distinct words of a query. The work is bounded, however long the query is. */
export function queryWords(query: string): ReadonlySet<string> {
  if (query.length <= 2 * endCharacters) return new Set(wordsOf(query));
  return new Set([
    ...wordsOf(query.slice(0, endCharacters)),
    ...wordsOf(query.slice(-endCharacters)),
  ]);
}

function addPairs(piece: string, words: string[]): void {
  let previous = "";
  for (const character of piece) {
    if (isIdeograph(character) || character === piece) words.push(character);
    if (previous !== "") words.push(previous + character);
    previous = character;
  }
}

/** Compares the code only: a regular expression would take more time than all other work on a Chinese text. */
function isIdeograph(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return (code >= 0x3400 && code <= 0x9fff) || (code >= 0x20000 && code <= 0x3ffff);
}
