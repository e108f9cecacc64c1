import { findProgram } from "@reeve/platform/nats-server";
import type { Embedded, EmbeddedOptions } from "./embedded.ts";
import { MissingError } from "./exit-code.ts";

/**
 * Starts an embedded Reeve. Throws a MissingError, with the line to type, when the machine lacks a program. The services
 * are loaded only now, so that every other command starts without them.
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
  return await startEmbedded(options, signal);
}

/** Throws a MissingError when code cannot be isolated. */
export function assertSandbox({ offer }: Embedded): void {
  if (offer.isolation !== undefined) return;
  const why =
    findProgram("bwrap") === undefined
      ? "bubblewrap is not installed; install the package bubblewrap of your distribution, or run: npm start"
      : "bubblewrap is installed but cannot start a sandbox (its log lines say why)";
  throw new MissingError(`code cannot be isolated: ${why}`);
}
