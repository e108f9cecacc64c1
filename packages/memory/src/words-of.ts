/** A letter, or a mark of one, of a script that puts no spaces between words or hangs particles on them. */
const spaceless = String.raw`[[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]&&[\p{L}\p{M}]]`;

const run = new RegExp(`^${spaceless}`, "v");
const pieces = new RegExp(
  String.raw`${spaceless}+|[[\p{L}\p{N}]--${spaceless}][[\p{L}\p{N}\p{M}]--${spaceless}]*|\p{Extended_Pictographic}`,
  "gv",
);

/** Marks that may be left out in writing: accents, and the vowels of Hebrew and Arabic. Those of other scripts are letters. */
const accents =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]/gu;

/**
 * English words that are in every text and tell nothing of it, the ends of their short forms, and the one word that most
 * memories begin with. Words of other languages tell little by how often they occur.
 */
const common = new Set(
  `a about all also am an and any are as at be been but by can could d did do does doesn don for from had has have he her
  here him his how i if in into is isn it its just ll m me more my no not of on or our out re s she should so some t than
  that the their them then there they this to too up us user users ve was we were what when where which who why will with
  would you your`.split(/\s+/),
);

/** Of a query with more characters than this, as much is read at each end: a question stands before or after what it is about. */
export const endCharacters = 4_096;

/** A memory is shorter than this; a few characters that each stand for a whole sentence are longer when they are unfolded. */
const maxFolded = 2 * endCharacters;

/**
 * The words of a text as memories are compared by them: without case and accents; of scripts without spaces, each pair of
 * neighbouring characters, and each ideograph. Any text has some, or none.
 */
export function wordsOf(text: string): readonly string[] {
  const folded = text.normalize("NFKD").replaceAll(accents, "").normalize("NFC").toLowerCase();
  const words: string[] = [];
  for (const [piece] of folded.slice(0, maxFolded).matchAll(pieces)) {
    if (run.test(piece)) addPairs(piece, words);
    else if (!common.has(piece)) words.push(piece);
  }
  return words;
}

/** The words of a query, each once. However long it is, the work is bounded. */
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

/** By the code alone: the same question to a regular expression takes most of the time of reading a Chinese text. */
function isIdeograph(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return (code >= 0x3400 && code <= 0x9fff) || (code >= 0x20000 && code <= 0x3ffff);
}
