/** A part of a text, in UTF-16 code units, with the name of what was found there. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
  /** The name that a redaction shows, such as `email`. */
  readonly label: string;
}

/** Returns spans in the order of their starts, none of which overlap: those that do become one, with the label of the first. */
export function disjoint(spans: readonly TextSpan[]): readonly TextSpan[] {
  const ordered = spans.toSorted((a, b) => a.start - b.start || b.end - a.end);
  const found: TextSpan[] = [];
  for (const span of ordered) {
    const last = found.at(-1);
    if (last === undefined || span.start >= last.end) found.push(span);
    else found[found.length - 1] = { ...last, end: Math.max(last.end, span.end) };
  }
  return found;
}

/** Returns a text with each span replaced by its label in brackets. The spans are disjoint, and in the order of their starts. */
export function redactText(text: string, spans: readonly TextSpan[]): string {
  let at = 0;
  const parts: string[] = [];
  for (const { start, end, label } of spans) {
    parts.push(text.slice(at, start), `[redacted: ${label}]`);
    at = end;
  }
  return parts.join("") + text.slice(at);
}
