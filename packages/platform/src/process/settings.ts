import { z } from "zod";
import { parseListenAddress } from "../config.ts";
import type { ListenAddress } from "../config.ts";
import { tracingSettings } from "../telemetry/tracing-settings.ts";

/** Where NATS is. A name and a password are settings of their own: an address is logged. */
const natsUrl = z
  .string()
  .regex(
    /^(?:(?:nats|tls):\/\/)?(?:\[[0-9a-fA-F:]+\]|[^\s:/@,[\]]+)(?::\d{1,5})?$/,
    "is not nats://host:port or tls://host:port",
  );

/**
 * How long whoever works at something may be silent before it goes to another, in milliseconds. All services of a
 * deployment have the same: each makes the queues that are missing, and who takes from one gives it its own. A machine that leaves a process without time for longer
 * needs more; a worker that dies is missed for as long.
 */
const ackWait = z.coerce.number().int().min(300).max(600_000).default(1_000);

/** What every service reads. */
export const commonSettings = {
  REEVE_NATS_URL: natsUrl.default("nats://127.0.0.1:4222"),
  REEVE_NATS_USER: z.string().optional(),
  REEVE_NATS_PASSWORD: z.string().optional(),
  REEVE_LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info"),
  REEVE_ACK_WAIT_MS: ackWait,
  ...tracingSettings,
};

/** `host:port`. */
export const listenAddress = z.string().transform((text, context): ListenAddress => {
  const address = parseListenAddress(text);
  if (address !== undefined) return address;
  context.addIssue(`"${text}" is not host:port`);
  return z.NEVER;
});

/**
 * Where probes are answered by a service that serves nothing else. Any free port by default, so that several find room on
 * one machine; the log says which.
 */
export const probeAddress = listenAddress.prefault("127.0.0.1:0");

/** An issue with a setting, as a rule over several of them sees it. */
interface Issue {
  readonly path?: readonly PropertyKey[] | undefined;
}

/**
 * The options of a rule, for `refine`, that `needed` may be missing only where `listen` is loopback. It is looked at also
 * when other settings are wrong, so that all are told at once.
 */
export function requiredBeyondLoopback(needed: string, listen: string) {
  return {
    path: [needed],
    message: `is needed when ${listen} is not a loopback address`,
    when: ({ issues }: { readonly issues: readonly Issue[] }) =>
      !issues.some(({ path }) => path?.[0] === needed || path?.[0] === listen),
  };
}
