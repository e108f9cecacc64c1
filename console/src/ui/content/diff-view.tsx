import { diffLines } from "diff";
import { useMemo } from "react";

interface DiffViewProps {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}

/** How many lines of context are shown around a change. */
const context = 3;
/**
 * How long the browser looks for the smallest difference, and in how much text: two large texts that have nothing in common take
 * very long, and the page stands still meanwhile.
 */
const maxMs = 200;
const maxCharacters = 300_000;
/** How many lines a page shows without effort. */
const maxLines = 2_000;

interface Line {
  readonly sign: "+" | "-" | " " | "…";
  readonly text: string;
}

/** The lines in which two texts differ. */
export function DiffView({ before, after, label }: DiffViewProps) {
  const lines = useMemo(() => linesOf(before, after), [before, after]);
  if (lines === undefined) {
    return (
      <p className="muted">The texts are too large, or differ in too much, to be compared here.</p>
    );
  }
  if (lines.every(({ sign }) => sign === " " || sign === "…")) {
    return <p className="muted">No difference.</p>;
  }
  return (
    <pre className="diff" tabIndex={0} role="region" aria-label={label}>
      {lines.slice(0, maxLines).map(({ sign, text }, index) => (
        // Lines are their own order.
        <span key={index} className={classes[sign]}>{`${sign} ${text}\n`}</span>
      ))}
      {lines.length > maxLines && (
        <span className="muted">{`… ${lines.length - maxLines} more lines`}</span>
      )}
    </pre>
  );
}

const classes = { "+": "added", "-": "removed", " ": undefined, "…": "muted" } as const;

/** Returns the lines to show. Undefined: the texts are too large, or the difference was not found in time. */
function linesOf(before: string, after: string): readonly Line[] | undefined {
  if (before.length + after.length > maxCharacters) return undefined;
  const parts = diffLines(before, after, { timeout: maxMs });
  return parts?.flatMap(({ value, added, removed }, index) => {
    const sign = added ? "+" : removed ? "-" : " ";
    const lines = value
      .replace(/\n$/, "")
      .split("\n")
      .map((text) => ({ sign, text }) as const);
    return sign === " " ? shortened(lines, index === 0, index === parts.length - 1) : lines;
  });
}

function shortened(lines: readonly Line[], isFirst: boolean, isLast: boolean): readonly Line[] {
  const head = isFirst ? 0 : context;
  const tail = isLast ? 0 : context;
  const hidden = lines.length - head - tail;
  if (hidden <= 1) return lines;
  const gap = { sign: "…", text: `${hidden} lines` } as const;
  return [...lines.slice(0, head), gap, ...lines.slice(lines.length - tail)];
}
