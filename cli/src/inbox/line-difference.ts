/** A line of a difference, and whether only one of two texts has it. */
export interface DifferentLine {
  readonly sign: " " | "-" | "+";
  readonly line: string;
}

/** How many pairs of lines are compared at most. Larger texts are shown whole, one after the other. */
const maxPairs = 1_000_000;

/** Returns the lines of two texts, those that both have once, in order. */
export function lineDifference(before: string, after: string): readonly DifferentLine[] {
  const [old, young] = [before.split("\n"), after.split("\n")];
  if (old.length * young.length > maxPairs) {
    return [...signed("-", old), ...signed("+", young)];
  }
  const common = commonLengths(old, young);
  const lines: DifferentLine[] = [];
  let [at, to] = [0, 0];
  while (at < old.length || to < young.length) {
    const [oldLine, youngLine] = [old[at], young[to]];
    if (oldLine !== undefined && oldLine === youngLine) {
      lines.push({ sign: " ", line: oldLine });
      at++;
      to++;
    } else if (
      oldLine !== undefined &&
      (youngLine === undefined || lengthAt(common, at + 1, to) >= lengthAt(common, at, to + 1))
    ) {
      lines.push({ sign: "-", line: oldLine });
      at++;
    } else {
      lines.push({ sign: "+", line: youngLine ?? "" });
      to++;
    }
  }
  return lines;
}

function signed(sign: "-" | "+", lines: readonly string[]): readonly DifferentLine[] {
  return lines.map((line) => ({ sign, line }));
}

/** Returns the length of the longest common part of the lines from each pair of places on. */
function commonLengths(old: readonly string[], young: readonly string[]): readonly Uint32Array[] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint32Array(young.length + 1));
  for (let at = old.length - 1; at >= 0; at--) {
    for (let to = young.length - 1; to >= 0; to--) {
      const row = lengths[at];
      if (row === undefined) continue;
      row[to] =
        old[at] === young[to]
          ? lengthAt(lengths, at + 1, to + 1) + 1
          : Math.max(lengthAt(lengths, at + 1, to), lengthAt(lengths, at, to + 1));
    }
  }
  return lengths;
}

function lengthAt(lengths: readonly Uint32Array[], at: number, to: number): number {
  return lengths[at]?.[to] ?? 0;
}
