import type { Call } from "../state/frame.ts";

/** What the result of a call begins with that a stop condition refused. */
export const notExecuted = "not executed: ";

/** Whether a stop condition refused a call. The log says so to every worker. */
export function isStopped({ result, startedAtMs }: Call): boolean {
  return result?.isError === true && startedAtMs === undefined
    ? result.content.startsWith(notExecuted)
    : false;
}
