import type { LinearExpression } from "../permission/text-matchers.ts";
import type { Detector } from "./detectors.ts";
import { detections } from "./detectors.ts";
import type { TextSpan } from "./text-span.ts";
import { disjoint } from "./text-span.ts";
import type { Work } from "./work.ts";

/** What a guard looks for in texts. */
export interface TextCheck {
  readonly kind: "text";
  readonly expressions: readonly LinearExpression[];
  readonly literals: readonly string[];
  readonly detectors: readonly Detector[];
  readonly ignoresCase: boolean;
}

/** How many places of one text are redacted one by one. */
const maxSpans = 500;

/** Where a text has what a check looks for, or why that is not known. */
export type Found =
  | { readonly spans: readonly TextSpan[]; readonly problem?: undefined }
  | { readonly spans?: undefined; readonly problem: string };

/**
 * Finds what a check looks for: all places, or the first one if `isFirst`. Yields where other work may go on. A text that would take too
 * much work is a problem. A text with too many places is one place, and what is too much work after a place belongs to it.
 */
export function* findIn(
  check: TextCheck,
  text: string,
  work: Work,
  isFirst: boolean,
): Generator<void, Found> {
  const { expressions, literals, detectors, ignoresCase } = check;
  const spans: TextSpan[] = [];
  const isDone = () => isFirst && spans.length > 0;
  for (const kind of detectors) {
    if (isDone()) break;
    for (const span of detections(kind, text)) {
      if (span !== undefined) spans.push(span);
      if (isDone()) break;
      if (work.passes(candidateCost)) yield;
    }
    if (work.passes(text.length * detectorCost)) yield;
  }
  const fold = ignoresCase ? lowered : (given: string) => given;
  const folded = literals.length === 0 || isDone() ? "" : fold(text);
  for (const literal of literals) {
    if (isDone()) break;
    spans.push(...literalSpans(folded, fold(literal)));
    if (work.passes(text.length * literalCost)) yield;
  }
  for (const expression of expressions) {
    if (isDone()) break;
    const found = yield* matchesIn(expression, text, work, isFirst);
    if (found.problem !== undefined) return found;
    spans.push(...found.spans);
  }
  const found = disjoint(spans);
  const [first] = found;
  return first === undefined || found.length <= maxSpans
    ? { spans: found }
    : { spans: [{ start: 0, end: text.length, label: first.label }] };
}

/** Steps for each character, compared with those of an expression: the engine of JavaScript is faster. */
const detectorCost = 0.5;
const literalCost = 0.05;
/** Steps for a text that may be of a kind. */
const candidateCost = 100;

function* matchesIn(
  expression: LinearExpression,
  text: string,
  work: Work,
  isFirst: boolean,
): Generator<void, Found> {
  const { source, cost } = expression;
  const spans: TextSpan[] = [];
  const places = expression.placesIn(text);
  const wanted = isFirst ? 1 : maxSpans + 1;
  for (let from = 0; spans.length < wanted;) {
    if (!work.affords(cost * (text.length - from))) {
      if (spans.length > 0) {
        spans.push({ start: from, end: text.length, label: "pattern" });
        break;
      }
      return {
        problem: `the text has ${text.length} characters, too many for /${source}/`,
      };
    }
    const { value: place } = places.next();
    if (work.passes(cost * (text.length - from))) yield;
    if (place === undefined) break;
    if (place.end > place.start) spans.push({ ...place, label: "pattern" });
    from = place.end;
  }
  return { spans };
}

/** Only letters whose other case has the same length: places in both texts are the same. */
function lowered(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function literalSpans(within: string, wanted: string): readonly TextSpan[] {
  const spans: TextSpan[] = [];
  for (let at = within.indexOf(wanted); at >= 0; at = within.indexOf(wanted, at + wanted.length)) {
    spans.push({ start: at, end: at + wanted.length, label: "text" });
    if (spans.length > maxSpans) break;
  }
  return spans;
}
