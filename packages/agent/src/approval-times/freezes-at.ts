import type { Freeze, TimedCall } from "./approval-times.ts";
import { selects } from "./approval-times.ts";
import { endOfPeriod } from "./period.ts";

/** A freeze of a call. */
export interface ActiveFreeze {
  /** Of several that apply now, the one that ends last. */
  readonly name: string;
  /** When no freeze applies to the call any more. Undefined: that is more than `maxLookMs` away. */
  readonly endsAtMs: number | undefined;
}

const maxLookMs = 366 * 86_400_000;
/** How many freezes may follow on each other without a gap before their end counts as unknown. */
const maxFollowing = 400;

/** Returns a function that gives the freeze of a call at an instant, or undefined. It works once for all calls with the same freezes. */
export function freezesAt(
  freezes: readonly Freeze[],
  instantMs: number,
): (call: TimedCall) => ActiveFreeze | undefined {
  const known = new Map<string, ActiveFreeze | undefined>();
  return (call) => {
    if (freezes.length === 0) return undefined;
    const selected = freezes.filter((freeze) => selects(freeze, call));
    const names = selected.map(({ name }) => name).join("\n");
    if (!known.has(names)) known.set(names, activeFreeze(selected, instantMs));
    return known.get(names);
  };
}

function activeFreeze(freezes: readonly Freeze[], instantMs: number): ActiveFreeze | undefined {
  const first = lastEnding(freezes, instantMs);
  if (first === undefined) return undefined;
  const { name } = first;
  let { endMs } = first;
  for (let following = 0; following < maxFollowing; following++) {
    if (endMs - instantMs > maxLookMs) break;
    const next = lastEnding(freezes, endMs);
    if (next === undefined) return { name, endsAtMs: endMs };
    ({ endMs } = next);
  }
  return { name, endsAtMs: undefined };
}

function lastEnding(
  freezes: readonly Freeze[],
  instantMs: number,
): { readonly name: string; readonly endMs: number } | undefined {
  return freezes
    .flatMap(({ name, period }) => {
      const endMs = endOfPeriod(period, instantMs);
      return endMs === undefined ? [] : [{ name, endMs }];
    })
    .toSorted((a, b) => b.endMs - a.endMs)[0];
}
