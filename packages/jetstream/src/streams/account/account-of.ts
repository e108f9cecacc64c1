import type { NatsConnection } from "@nats-io/transport-node";
import { callStore } from "../call-store.ts";
import { openJetStreamManager } from "../ensure-stream.ts";

const timeoutMs = 2_000;

/** The account of NATS in which the streams of this connection are, or will be. */
export interface Account {
  /** Undefined: the server does not tell it. */
  readonly name: string | undefined;
  /** The number of its streams. */
  readonly streams: number;
}

/**
 * Reads the account of a connection. A store that is empty before it is provisioned is either new, or not the one that the
 * deployment had before: streams of other accounts are not visible.
 */
export async function accountOf(connection: NatsConnection): Promise<Account> {
  const manager = await openJetStreamManager(connection);
  const { streams } = await callStore(() => manager.getAccountInfo());
  return { name: await nameOf(connection), streams };
}

/** Servers before 2.10 do not answer. */
async function nameOf(connection: NatsConnection): Promise<string | undefined> {
  try {
    const reply = await connection.request("$SYS.REQ.USER.INFO", "", { timeout: timeoutMs });
    return accountIn(reply.json<unknown>());
  } catch {
    return undefined;
  }
}

function accountIn(reply: unknown): string | undefined {
  if (typeof reply !== "object" || reply === null || !("data" in reply)) return undefined;
  const { data } = reply;
  if (typeof data !== "object" || data === null || !("account" in data)) return undefined;
  return typeof data.account === "string" ? data.account : undefined;
}
