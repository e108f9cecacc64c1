import type { Freeze } from "./approval-times.ts";
import { selects } from "./approval-times.ts";
import { endOfPeriod } from "./period.ts";
import type { TimedCall } from "./timed-call.ts";

/** A freeze of a call. */
export interface ActiveFreeze {
  /** Of several that apply now, the one that ends last. */
  readonly name: string;
  /** When no freeze applies to the call any more. Undefined: that is more than `maxLookMs` away. */
  readonly endsAtMs: number | undefined;
}

const dayMs = 86_400_000;
const maxLookMs = 366 * dayMs;
/** Weekly freezes that leave no gap for this long leave none at all. */
const maxWeeklyMs = 14 * dayMs;
/** How many freezes may follow on each other without a gap before their end counts as unknown. */
const maxFollowing = 400;
const maxKnownEnds = 1_000;

/** When freezes that follow on each other end, by the names of the freezes and the end of the first one. By policy: it never changes. */
const knownEnds = new WeakMap<readonly Freeze[], Map<string, number | undefined>>();

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
    if (!known.has(names)) {
      const first = lastEnding(selected, instantMs);
      const freeze = first && {
        name: first.name,
        endsAtMs: knownEnd(freezes, `${names}\n${first.endMs}`, () =>
          endAfter(selected, first.endMs),
        ),
      };
      known.set(names, freeze);
    }
    return known.get(names);
  };
}

/** Returns a known end, or computes it. */
function knownEnd(
  freezes: readonly Freeze[],
  key: string,
  compute: () => number | undefined,
): number | undefined {
  const ends = knownEnds.get(freezes) ?? new Map<string, number | undefined>();
  knownEnds.set(freezes, ends);
  if (!ends.has(key)) {
    if (ends.size >= maxKnownEnds) ends.clear();
    ends.set(key, compute());
  }
  return ends.get(key);
}

/** Returns when the freezes that follow on the end of one without a gap have ended. Undefined: that is too far away. */
function endAfter(freezes: readonly Freeze[], firstEndMs: number): number | undefined {
  let endMs = firstEndMs;
  let weeklyFromMs = firstEndMs;
  for (let following = 0; following < maxFollowing; following++) {
    const next = lastEnding(freezes, endMs);
    if (next === undefined) return endMs;
    ({ endMs } = next);
    if (!next.isWeekly) weeklyFromMs = endMs;
    if (endMs - weeklyFromMs > maxWeeklyMs || endMs - firstEndMs > maxLookMs) break;
  }
  return undefined;
}

interface Ending {
  readonly name: string;
  readonly endMs: number;
  readonly isWeekly: boolean;
}

function lastEnding(freezes: readonly Freeze[], instantMs: number): Ending | undefined {
  return freezes
    .flatMap(({ name, period }): readonly Ending[] => {
      const endMs = endOfPeriod(period, instantMs);
      return endMs === undefined ? [] : [{ name, endMs, isWeekly: period.kind === "weekly" }];
    })
    .toSorted((a, b) => b.endMs - a.endMs)[0];
}
