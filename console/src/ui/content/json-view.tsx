import { memo } from "react";

const tokens =
  /("(?:\\.|[^"\\])*")(\s*:)?|\b(true|false|null)\b|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/g;
/** Coloring more would cost more than it helps. */
const maxColored = 20_000;

interface JsonViewProps {
  readonly value: unknown;
  /** What the value is, for screen readers. */
  readonly label: string;
}

/** JSON for people: indented, colored, and never executed. */
export const JsonView = memo(function JsonView({ value, label }: JsonViewProps) {
  const text = typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
  return (
    <pre className="json" tabIndex={0} role="region" aria-label={label}>
      {text.length > maxColored ? text : colored(text)}
    </pre>
  );
});

function colored(text: string) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(tokens)) {
    const [all, string, colon, word, number] = match;
    if (match.index > end) parts.push(text.slice(end, match.index));
    const kind =
      string === undefined
        ? word === undefined
          ? number === undefined
            ? ""
            : "number"
          : "word"
        : colon === undefined
          ? "string"
          : "key";
    parts.push(
      <span key={match.index} className={`json-${kind}`}>
        {string ?? all}
      </span>,
    );
    if (colon !== undefined) parts.push(colon);
    end = match.index + all.length;
  }
  parts.push(text.slice(end));
  return parts;
}
