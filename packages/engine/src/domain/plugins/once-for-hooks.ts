import type { PinnedPlugin } from "@reeve/contracts/run";
import type { Call, Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";

interface Known<Value> {
  readonly pinned: readonly PinnedPlugin[] | undefined;
  readonly version: object | undefined;
  readonly value: Value;
}

/**
 * Returns a function that computes a value of a call once, as long as the call is the same object, and no hook or action of it has ended
 * since. Each event of a turn asks about all calls of the turn. Only for what depends on nothing else that changes while its step is open.
 */
export function onceForHooks<Value>(
  compute: (state: RunState, frame: Frame, call: Call) => Value,
): (state: RunState, frame: Frame, call: Call) => Value {
  const known = new WeakMap<Call, Known<Value>>();
  return (state, frame, call) => {
    const pinned = state.plugins?.pinned;
    const version = state.plugins?.versions.get(call.call.callId);
    const before = known.get(call);
    if (before !== undefined && before.pinned === pinned && before.version === version) {
      return before.value;
    }
    const value = compute(state, frame, call);
    known.set(call, { pinned, version, value });
    return value;
  };
}

/** Returns a function that computes a value of a frame in a state once. Both never change in place. */
export function onceForFrame<Value>(
  compute: (state: RunState, frame: Frame) => Value,
): (state: RunState, frame: Frame) => Value {
  const known = new WeakMap<RunState, Map<Frame, Value>>();
  return (state, frame) => {
    const values = known.get(state) ?? new Map<Frame, Value>();
    known.set(state, values);
    const before = values.get(frame);
    if (before !== undefined) return before;
    const value = compute(state, frame);
    values.set(frame, value);
    return value;
  };
}
