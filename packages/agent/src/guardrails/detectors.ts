import type { TextSpan } from "./text-span.ts";

/**
 * The kinds of text that guards find by name. Each expression is matched by the engine of JavaScript, so each consists of bounded
 * repetitions of disjoint classes: it takes linear time.
 */
const expressions = {
  email: /(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])/g,
  credit_card: /(?<!\d)\d(?:[ -]?\d){11,18}/g,
  iban: /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}/g,
  us_ssn: /(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])/g,
  ip_address: /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])/g,
  secret_key:
    /(?<![A-Za-z0-9_-])(?:sk-[A-Za-z0-9_-]{20,200}|gh[pousr]_[A-Za-z0-9]{36,200}|github_pat_[A-Za-z0-9_]{22,200}|xox[abprs]-[A-Za-z0-9-]{10,200}|AIza[A-Za-z0-9_-]{35}|(?:AKIA|ASIA)[A-Z0-9]{16}|glpat-[A-Za-z0-9_-]{20,200}|eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,2000})/g,
} as const;

export type Detector = keyof typeof expressions;

export const detectors = Object.keys(expressions) as readonly Detector[];

/** Returns where a text has a kind of text. */
export function detect(kind: Detector, text: string): readonly TextSpan[] {
  return [...detections(kind, text)].filter((each) => each !== undefined);
}

/** Yields where a text has a kind of text, and undefined for what only looks like it. */
export function* detections(kind: Detector, text: string): Generator<TextSpan | undefined, void> {
  if (kind === "secret_key") yield* privateKeys(text);
  // A copy has a place of its own in the text.
  const expression = new RegExp(expressions[kind]);
  for (let found = expression.exec(text); found !== null; found = expression.exec(text)) {
    const { 0: match, index } = found;
    const length = lengthOf(kind, match, text[index + match.length] ?? "");
    const isFound = length > 0;
    // What only looks like one may be directly before one, as in a list of numbers.
    expression.lastIndex = index + (isFound ? length : startOfNext(kind, match));
    yield isFound ? { start: index, end: index + length, label: kind } : undefined;
  }
}

/** Yields private keys, from their first line to their last: to the end of the text if it has no last line. */
function* privateKeys(text: string): Generator<TextSpan, void> {
  const first = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
  for (let found = first.exec(text); found !== null; found = first.exec(text)) {
    const last = text.indexOf("-----END ", first.lastIndex);
    const dashes = last < 0 ? -1 : text.indexOf("-----", last + 5);
    const end = dashes < 0 ? text.length : dashes + 5;
    first.lastIndex = end;
    yield { start: found.index, end, label: "secret_key" };
  }
}

/** Returns where in a match the next one may begin: at the next group of digits or letters. */
function startOfNext(kind: Detector, match: string): number {
  const gap = kind === "credit_card" || kind === "iban" ? match.search(/[ -]/) : -1;
  return gap < 0 ? match.length : gap + 1;
}

/** Returns how many characters of a match are a text of its kind. 0: it only looks like one. `next` is the character after the match. */
function lengthOf(kind: Detector, match: string, next: string): number {
  switch (kind) {
    case "credit_card":
      return lengthOfCard(match, next);
    case "iban":
      return lengthOfIban(match, next);
    case "ip_address":
      return match.split(".").every((part) => Number(part) < 256) ? match.length : 0;
    case "email":
    case "us_ssn":
    case "secret_key":
      return match.length;
  }
}

/** A card number ends where a group of digits ends: other numbers may follow it. */
function lengthOfCard(match: string, next: string): number {
  const digits: number[] = [];
  let length = 0;
  for (const { 0: digit, index } of match.matchAll(/\d/g)) {
    digits.push(Number(digit));
    const isEnd = !/\d/.test(match[index + 1] ?? next);
    if (isEnd && digits.length >= minCardDigits && hasLuhnDigit(digits)) length = index + 1;
  }
  return length;
}

const minCardDigits = 12;

/** Whether the last digit of a card number is the check digit of the others. */
function hasLuhnDigit(digits: readonly number[]): boolean {
  if (digits.every((each) => each === digits[0])) return false;
  const sum = digits.toReversed().reduce((total, digit, index) => {
    const doubled = index % 2 === 0 ? digit : digit * 2;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}

/** An IBAN has the length of its country, if it is known: other words may follow it. */
function lengthOfIban(match: string, next: string): number {
  const compact = match.replaceAll(/[ -]/g, "");
  const count = ibanLengths.get(match.slice(0, 2));
  if (count === undefined) {
    return !/[A-Za-z0-9]/.test(next) && hasIbanChecksum(compact) ? match.length : 0;
  }
  if (compact.length < count || !hasIbanChecksum(compact.slice(0, count))) return 0;
  const ends = Array.from(match.matchAll(/[A-Z0-9]/g), ({ index }) => index + 1);
  return ends[count - 1] ?? 0;
}

/** Lengths of IBANs by country, as in the registry of SWIFT. */
const ibanLengths: ReadonlyMap<string, number> = new Map(
  Object.entries({
    15: "NO",
    16: "BE",
    18: "DK FI FK FO GL NL SD",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH CR HR LI LV",
    22: "BG BH DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ DZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HU LB NI PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU",
    31: "MT SC",
    32: "LC",
    33: "RU",
  }).flatMap(([length, countries]) =>
    countries.split(" ").map((country) => [country, Number(length)] as const),
  ),
);

function hasIbanChecksum(text: string): boolean {
  let rest = 0;
  for (const character of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
