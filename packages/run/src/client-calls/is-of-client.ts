import type { KnownClientCall } from "../head/client-calls.ts";

/** Whether a client, with a credential of this subject, has taken the call. */
export function isOfClient(
  call: Pick<KnownClientCall, "clientId" | "subject">,
  client: Pick<KnownClientCall, "clientId" | "subject">,
): boolean {
  return call.clientId === client.clientId && call.subject === client.subject;
}
