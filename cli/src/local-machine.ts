import { Failure } from "@reeve/platform/failure";
import { findProgram } from "@reeve/platform/nats/nats-server";
import type { Embedded, EmbeddedOptions } from "./embedded.ts";
import { MissingError } from "./exit-code.ts";

/**
 * Starts an embedded Reeve. Throws a MissingError, with the line to type, when the machine lacks a program,
 * and a Failure when a port or the data folder cannot be had, or a setting is wrong. The services are loaded only now, so that every other command starts without them.
 */
export async function localMachine(
  options: EmbeddedOptions,
  signal: AbortSignal,
): Promise<Embedded> {
  if (findProgram("nats-server") === undefined) {
    throw new MissingError(
      "nats-server is not installed; install the package nats-server of your distribution, or run: npm start",
    );
  }
  const { startEmbedded } = await import("./embedded.ts");
  try {
    return await startEmbedded(options, signal);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // Nobody else is to blame: what could not be had is a thing of this machine, not a server that may come back.
    const { reason, message, violations } = error;
    throw new Failure("precondition", reason, message, { violations, cause: error });
  }
}

/** Throws a MissingError when code cannot be isolated. */
export function assertSandbox({ offer }: Embedded): void {
  if (offer.isolation !== undefined) return;
  const why =
    findProgram("bwrap") === undefined
      ? "bubblewrap is not installed; install the package bubblewrap of your distribution, or run: npm start"
      : "no sandbox works here; the log lines say what was tried, and what would help";
  throw new MissingError(`code cannot be isolated: ${why}`);
}
