import { setImmediate as otherWork } from "node:timers/promises";

/** The items that are folded at a time: a few milliseconds of work. */
const sliceLength = 200;

/**
 * Returns the state after all of `items`, by `fold` of some of them at a time. Other work of the process runs in between, so a
 * long fold does not keep it waiting. A short one does not wait either.
 */
export async function foldInSlices<State, Item>(
  before: State,
  items: readonly Item[],
  fold: (state: State, slice: readonly Item[]) => State,
  signal: AbortSignal,
): Promise<State> {
  let state = before;
  for (let start = 0; start < items.length; start += sliceLength) {
    if (start > 0) await otherWork();
    signal.throwIfAborted();
    state = fold(state, items.slice(start, start + sliceLength));
  }
  return state;
}
