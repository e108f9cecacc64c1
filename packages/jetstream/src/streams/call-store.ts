import { isConflict, storeFailure } from "./errors.ts";

/** Calls the store, and converts what it throws into a Failure. */
export function callStore<Result>(call: () => Promise<Result>): Promise<Result>;
/** The same for a compare-and-write. Returns undefined when the store holds another version. */
export function callStore<Result>(
  call: () => Promise<Result>,
  mode: "undefined_on_conflict",
): Promise<Result | undefined>;
export async function callStore<Result>(
  call: () => Promise<Result>,
  mode?: "undefined_on_conflict",
): Promise<Result | undefined> {
  try {
    return await call();
  } catch (error) {
    if (mode === "undefined_on_conflict" && isConflict(error)) return undefined;
    throw storeFailure(error);
  }
}
