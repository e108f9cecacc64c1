import { ClientCallState } from "@reeve/contracts/run";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { AppendExternalPorts } from "../commands/append-external.ts";
import { appendExternal } from "../commands/append-external.ts";
import { parkedAgain } from "../commands/parked-again.ts";
import type { KnownClientCall } from "../head/client-calls.ts";
import { isTerminal } from "../head/run-status.ts";
import { isOfClient } from "./is-of-client.ts";

/** A client, and the subject of its credential. */
export interface ClientIdentity {
  readonly clientId: string;
  readonly subject: string;
}

/**
 * Takes an open call for a client. Of several clients that try, one gets it: each append names the end of the log that it follows.
 * Returns the call if the client has it now, and undefined if another client has it, or if it needs no answer anymore. A parked run
 * stays parked. With `seen` in the ports, a call that is not open there is not taken, and the log is read only if another writer was
 * first.
 */
export async function takeCall(
  ports: AppendExternalPorts,
  key: RunKey,
  callId: string,
  client: ClientIdentity,
  signal: AbortSignal,
): Promise<KnownClientCall | undefined> {
  const value = { callId, state: ClientCallState.TAKEN, ...client };
  const head = await appendExternal(
    ports,
    key,
    (before) => {
      const call = before.clientCalls.get(callId);
      if (call?.state !== "open" || isTerminal(before.status)) return [];
      return [{ case: "clientCall", value }, ...parkedAgain(before)];
    },
    signal,
  );
  const call = head.clientCalls.get(callId);
  const isOwn = call?.state === "taken" && isOfClient(call, client);
  return isOwn && !isTerminal(head.status) ? call : undefined;
}
