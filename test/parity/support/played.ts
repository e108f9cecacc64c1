import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import type { Asked, Played } from "../../support/playing-server.ts";

/** Answers with one call. */
export const call = (name: string, args: object = {}): Played => ({ calls: [{ name, args }] });
/** Returns how many turns the conversation has. */
export const turnsOf = ({ messages }: Asked) =>
  messages.filter(({ role }) => role === "assistant").length;
/** Returns the first message of the conversation. */
export const inputOf = ({ messages }: Asked) => messages[0]?.text ?? "";
/** Whether the event requests a decision of a person. */
export const isPending = ({ event }: RunEvent) =>
  event.case === "approval" && event.value.approval?.state === ApprovalState.PENDING;

/** Calls a tool in the first turn, and answers in the second. */
export const once = (played: Played) => (asked: Asked) =>
  turnsOf(asked) === 0 ? played : { text: "All done." };
