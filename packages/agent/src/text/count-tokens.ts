import { firstCharacters, lastCharacters } from "./truncate-characters.ts";

/**
 * Returns how many tokens a text has at most: an estimate that is above the count of the tokenizers in use, about twice as
 * high for English. It needs no vocabulary, and the tokenizers of several providers are not public.
 */
export function tokensIn(text: string): number {
  let hundredths = 0;
  let letters = 0;
  let spaces = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const kind = kindOf(code);
    if (kind === "letter") hundredths += letter(text, index, letters);
    else hundredths += kind === "space" && spaces === 1 ? secondSpace : start(code);
    letters = kind === "letter" ? letters + 1 : 0;
    spaces = kind === "space" ? spaces + 1 : 0;
  }
  return Math.ceil(hundredths / 100);
}

/** Returns the beginning of a text, at most `maxTokens` long. */
export function firstTokens(text: string, maxTokens: number): string {
  return fitting(text, maxTokens, firstCharacters);
}

/** Returns the end of a text, at most `maxTokens` long. */
export function lastTokens(text: string, maxTokens: number): string {
  return fitting(text, maxTokens, lastCharacters);
}

function fitting(
  text: string,
  maxTokens: number,
  cut: (text: string, maxLength: number) => string,
): string {
  let kept = maxTokens > 0 ? text : "";
  for (let tokens = tokensIn(kept); tokens > maxTokens && kept !== ""; tokens = tokensIn(kept)) {
    kept = cut(kept, Math.floor((kept.length * maxTokens) / tokens));
  }
  return kept;
}

/** Returns the hundredths of a token that a character adds, unless it continues a word of Latin letters. */
function start(code: number): number {
  switch (kindOf(code)) {
    case "space":
      return 10;
    case "letter":
    case "other_ascii":
      return 100;
    case "cyrillic":
      return 125;
    case "east_asian":
      return 270;
    case "two_bytes":
    case "surrogate":
      return 200;
    case "three_bytes":
      return 300;
  }
}

/** Returns the hundredths of a token that the letter at an index adds to a word that has `letters` before it. */
function letter(text: string, index: number, letters: number): number {
  const code = text.charCodeAt(index);
  if (letters === 0) return start(code);
  const previous = text.charCodeAt(index - 1);
  const isThirdInRow = letters > 1 && code === previous && code === text.charCodeAt(index - 2);
  return isThirdInRow ? rareFollower : nextLetter(previous, code, letters);
}

function nextLetter(previous: number, code: number, letters: number): number {
  const wasUpper = previous <= upperZ;
  const isUpper = code <= upperZ;
  const isCapitalized = wasUpper && letters === 1;
  if (wasUpper !== isUpper && !isCapitalized) return 100;
  if (wasUpper && isUpper) return 75;
  const followers = commonFollowers[(previous | lowerCaseBit) - lowerA] ?? "";
  if (!followers.includes(String.fromCharCode(code))) return rareFollower;
  return letters < 7 ? 41 : 60;
}

type Kind =
  | "space"
  | "letter"
  | "other_ascii"
  | "cyrillic"
  | "east_asian"
  | "two_bytes"
  | "surrogate"
  | "three_bytes";

function kindOf(code: number): Kind {
  if (code < 0x80) {
    const lower = code | lowerCaseBit;
    if (lower >= lowerA && lower <= lowerZ) return "letter";
    return code === 0x20 ? "space" : "other_ascii";
  }
  if (code < 0x800) return code >= 0x400 && code <= 0x4ff ? "cyrillic" : "two_bytes";
  if (code >= 0xd800 && code <= 0xdfff) return "surrogate";
  const isEastAsian =
    (code >= 0x3000 && code <= 0x30ff) ||
    (code >= 0x4e00 && code <= 0x9fff) ||
    (code >= 0xac00 && code <= 0xd7a3);
  return isEastAsian ? "east_asian" : "three_bytes";
}

/** A word follows one space within its first token. More spaces are a token before it. */
const secondSpace = 100;
const rareFollower = 80;
const lowerCaseBit = 0x20;
const lowerA = 0x61;
const lowerZ = 0x7a;
const upperZ = 0x5a;

/** For each letter from `a` to `z`, the letters that often follow it in words. Random letters make more tokens. */
const commonFollowers =
  "bcdfgiklmnprstuvwy aeilorstuy aehikloprtuy adegilorsuvy acdefglmnopqrstvwxy aefiloru aehilnorsu aeiortu acdefglmnoprstvz aeou aeilnsy adefilmosuty abeimopsuy acdefgiknostuy bcdfgiklmnoprstuvw aehilooprstu u acdegiklmnostuvy acehikmopqstuwy acehiorstuwy abcdegilmnprst aeio aehinors aceipt eimost aeioz".split(
    " ",
  );
