import type { LinearExpression } from "../permission/text-matchers.ts";
import type { Detector } from "./detectors.ts";
import { detect } from "./detectors.ts";
import type { TextSpan } from "./text-span.ts";
import { disjoint } from "./text-span.ts";

/** What a guard looks for in texts. */
export interface TextCheck {
  readonly kind: "text";
  readonly expressions: readonly LinearExpression[];
  readonly literals: readonly string[];
  readonly detectors: readonly Detector[];
  readonly ignoresCase: boolean;
}

/** The most steps that one expression may take for one text: a worker does nothing else meanwhile. */
const maxSteps = 100_000_000;
/** How many places of one text are redacted one by one. */
const maxSpans = 500;

/** Where a text has what a check looks for, or why that is not known. */
export type Found =
  | { readonly spans: readonly TextSpan[]; readonly problem?: undefined }
  | { readonly spans?: undefined; readonly problem: string };

/** Finds what a check looks for. A text that would take too much work is a problem. A text with too many places is one place. */
export function findIn(
  { expressions, literals, detectors, ignoresCase }: TextCheck,
  text: string,
): Found {
  const spans: TextSpan[] = [];
  for (const { source, cost, spansIn } of expressions) {
    if (cost * text.length > maxSteps) {
      return { problem: `the text has ${text.length} characters, too many for /${source}/` };
    }
    spans.push(...spansIn(text, maxSpans + 1).map((span) => ({ ...span, label: "pattern" })));
  }
  for (const literal of literals) spans.push(...literalSpans(text, literal, ignoresCase));
  for (const kind of detectors) spans.push(...detect(kind, text));
  const found = disjoint(spans);
  const [first] = found;
  return first === undefined || found.length <= maxSpans
    ? { spans: found }
    : { spans: [{ start: 0, end: text.length, label: first.label }] };
}

function literalSpans(text: string, literal: string, ignoresCase: boolean): readonly TextSpan[] {
  const spans: TextSpan[] = [];
  // Only letters whose other case has the same length: places in both texts are the same.
  const fold = (given: string) =>
    ignoresCase ? given.replace(/[A-Z]/g, (c) => c.toLowerCase()) : given;
  const [within, wanted] = [fold(text), fold(literal)];
  for (let at = within.indexOf(wanted); at >= 0; at = within.indexOf(wanted, at + wanted.length)) {
    spans.push({ start: at, end: at + wanted.length, label: "text" });
    if (spans.length > maxSpans) break;
  }
  return spans;
}
