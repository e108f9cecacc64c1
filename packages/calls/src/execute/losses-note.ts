import type { Losses } from "../ports/losses.ts";

/** How many calls are named: the note is read with the result, within the same limit. */
const maxNamed = 6;
const maxName = 64;

/** What the model reads at the beginning of a result about files that are gone. */
export function lossesNote({ lost, lostMore, lostSnapshot }: Losses): string {
  const named = lost
    .slice(0, maxNamed)
    .map(({ callId, tool }) => `${callId || "a client"} (${tool.slice(0, maxName)})`);
  const left = lost.length - named.length + lostMore;
  if (left > 0) named.push(`${left} more`);
  const whole = lostSnapshot
    ? ["everything that was in the workspace is gone but the input files of this run"]
    : [];
  const calls =
    named.length === 0 ? [] : [`changes to files by these calls are gone: ${named.join(", ")}`];
  const what = [...whole, ...calls].join("; ");
  return `[the toolhost that had the workspace was lost: ${what}. Look at the files before you rely on them.]\n`;
}
