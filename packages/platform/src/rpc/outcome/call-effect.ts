import type { ContextValues, HandlerContext } from "@connectrpc/connect";
import { createContextKey } from "@connectrpc/connect";

const effectKey = createContextKey(false, { description: "effect" });
/** Header of an answer between services: the call has changed something. */
const effectHeader = "reeve-effect";

/** Notes that a call has changed something: it repeats no earlier one. */
export function noteEffect({ values }: Pick<HandlerContext, "values">): void {
  values.set(effectKey, true);
}

/** Whether a call is known to have changed something. */
export function hasEffect(values: ContextValues): boolean {
  return values.get(effectKey);
}

/** Reports to the service that forwarded a call that it has changed something. */
export function reportEffect({ responseHeader }: Pick<HandlerContext, "responseHeader">): void {
  responseHeader.set(effectHeader, "1");
}

/** Whether another service reports that a call has changed something. Services of earlier versions do not. */
export function reportsEffect(header: Headers): boolean {
  return header.has(effectHeader);
}
