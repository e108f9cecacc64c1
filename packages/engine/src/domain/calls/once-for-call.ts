import type { ToolCall } from "@reeve/contracts/tool";

/**
 * Returns a function that computes a value of a call once, as long as the call and the other inputs are the same objects. A pass over the
 * state asks several times about each call, and the answer may take much work.
 */
export function onceForCall<Inputs extends readonly unknown[], Value>(
  compute: (call: ToolCall, ...inputs: Inputs) => Value,
): (call: ToolCall, ...inputs: Inputs) => Value {
  const known = new WeakMap<ToolCall, { readonly inputs: Inputs; readonly value: Value }>();
  return (call, ...inputs) => {
    const before = known.get(call);
    if (before?.inputs.every((input, index) => input === inputs[index]) === true) {
      return before.value;
    }
    const value = compute(call, ...inputs);
    known.set(call, { inputs, value });
    return value;
  };
}

/** Returns the part of the work of a turn that the checks of one of its calls may take. */
export function shareOf(maxWork: number, callsInTurn: number): number {
  return Math.floor(maxWork / Math.max(callsInTurn, 1));
}
