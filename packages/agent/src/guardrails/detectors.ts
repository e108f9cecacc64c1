import type { TextSpan } from "./text-span.ts";

/**
 * The kinds of text that guards find by name. Each expression is matched by the engine of JavaScript, so each consists of bounded
 * repetitions of disjoint classes: it takes linear time.
 */
const expressions = {
  email: /(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])/g,
  credit_card: /(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])/g,
  iban: /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])/g,
  us_ssn: /(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])/g,
  ip_address: /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])/g,
  secret_key:
    /(?<![A-Za-z0-9_-])(?:sk-[A-Za-z0-9_-]{20,200}|gh[pousr]_[A-Za-z0-9]{36,200}|github_pat_[A-Za-z0-9_]{22,200}|xox[abprs]-[A-Za-z0-9-]{10,200}|AIza[A-Za-z0-9_-]{35}|(?:AKIA|ASIA)[A-Z0-9]{16}|glpat-[A-Za-z0-9_-]{20,200}|eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,2000})|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/g,
} as const;

export type Detector = keyof typeof expressions;

export const detectors = Object.keys(expressions) as readonly Detector[];

/** Returns where a text has a kind of text. */
export function detect(kind: Detector, text: string): readonly TextSpan[] {
  const spans: TextSpan[] = [];
  for (const { 0: match, index } of text.matchAll(expressions[kind])) {
    if (isValid(kind, match)) spans.push({ start: index, end: index + match.length, label: kind });
  }
  return spans;
}

function isValid(kind: Detector, match: string): boolean {
  if (kind === "credit_card") return hasLuhnDigit(match);
  if (kind === "iban") return hasIbanChecksum(match.replaceAll(" ", ""));
  if (kind === "ip_address") return match.split(".").every((part) => Number(part) < 256);
  return true;
}

/** Whether the last digit of a card number is the check digit of the others. */
function hasLuhnDigit(text: string): boolean {
  const digits = Array.from(text.replace(/\D/g, ""), Number);
  if (new Set(digits).size === 1) return false;
  const sum = digits.toReversed().reduce((total, digit, index) => {
    const doubled = index % 2 === 0 ? digit : digit * 2;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}

function hasIbanChecksum(text: string): boolean {
  let rest = 0;
  for (const character of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
