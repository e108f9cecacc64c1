import type { Failure } from "@reeve/platform/failure";
import type { Colours } from "../terminal.ts";
import { plainText } from "./plain-text.ts";
import { table } from "./table.ts";

/** A failure for people: one sentence, and a table of what is wrong where fields are. */
export function renderFailure(failure: Failure, url: string | undefined, colours: Colours): string {
  const sentence =
    failure.kind === "unavailable" && isConnectionError(failure) && url !== undefined
      ? `no Reeve answers at ${url}: start one with \`reeve up\`, or say where it is with --url or REEVE_URL`
      : plainText(failure.message);
  const rows = failure.violations.map(({ field, description, reason }) =>
    [field, description, reason].map(plainText),
  );
  return `${colours.red("error:")} ${sentence}\n${table(["FIELD", "PROBLEM", "RULE"], rows)}`;
}

/** Whether the connection itself could not be made, as told by the causes of the failure. */
function isConnectionError(failure: Failure): boolean {
  for (let cause: unknown = failure; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && connectionCodes.has(String(cause.code))) return true;
  }
  return false;
}

const connectionCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
]);
