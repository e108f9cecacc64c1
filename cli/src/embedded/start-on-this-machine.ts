import process from "node:process";
import { Failure } from "@reeve/platform/failure";
import { findProgram } from "@reeve/platform/nats/nats-server";
import { MissingError } from "../exit-code.ts";
import { howToInstall } from "./programs.mjs";
import type { Embedded, EmbeddedOptions } from "./start-embedded.ts";

/**
 * Starts an embedded Reeve. Throws a MissingError that says what to install if nats-server is missing, and a Failure if a
 * port or the data folder is in use, or a setting is invalid. Loads the services only now, so that other commands start
 * faster.
 */
export async function startOnThisMachine(
  options: EmbeddedOptions,
  signal: AbortSignal,
): Promise<Embedded> {
  if (findProgram("nats-server") === undefined) {
    throw new MissingError(howToInstall(options.settings) ?? "missing: nats-server");
  }
  const { startEmbedded } = await import("./start-embedded.ts");
  try {
    return await startEmbedded(options, signal);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // The cause is on this machine, even if it is "unavailable", which would mean a server that cannot be reached.
    const { reason, message, violations } = error;
    const hint = isTaken(options.listen, error) ? freePort : "";
    throw new Failure("precondition", reason, message + hint, { violations, cause: error });
  }
}

const freePort = ", for example any free port with --listen 127.0.0.1:0";

/** Whether another program uses the address of the API. */
function isTaken(listen: string, { message, cause }: Failure): boolean {
  const isInUse = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
  return isInUse && message.includes(`${listen}:`);
}

/** Throws a MissingError if no sandbox works on this machine. */
export function assertSandbox({ capabilities }: Embedded): void {
  if (capabilities.isolation !== undefined) return;
  const reason =
    (findProgram("bwrap") === undefined ? howToInstall(process.env) : undefined) ??
    "no sandbox driver works on this machine; the log says which ones were tried and what to change";
  throw new MissingError(`cannot isolate code: ${reason}`);
}
