import type { Call, Frame } from "../state/frame.ts";

const known = new WeakMap<Frame["calls"], readonly Call[]>();

/** Returns the calls of a frame without a result, in their order: the same list for the same calls. A step of a workflow may have thousands that ended. */
export function unansweredCalls({ calls }: Pick<Frame, "calls">): readonly Call[] {
  const before = known.get(calls);
  if (before !== undefined) return before;
  const unanswered = calls.filter(({ result }) => result === undefined);
  known.set(calls, unanswered);
  return unanswered;
}
