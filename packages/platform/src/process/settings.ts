import { isIP } from "node:net";
import { z } from "zod";
import { parseListenAddress } from "../config.ts";
import type { ListenAddress } from "../config.ts";
import { credsSetting } from "../nats/nats-creds.ts";
import { tlsSettings } from "../nats/nats-tls.ts";
import type { ServerLimits } from "../rpc/server-limits.ts";
import { defaultLimits } from "../rpc/server-limits.ts";
import { tracingSettings } from "../telemetry/tracing-settings.ts";

const oneNatsUrl = /^(?:(?:nats|tls):\/\/)?(?:\[[0-9a-fA-F:]+\]|[^\s:/@,[\]]+)(?::\d{1,5})?$/;

/** The URLs of NATS servers, with commas between them. User and password are separate settings, because the URLs are logged. */
const natsUrls = z
  .string()
  .refine(
    (urls) => urls.split(",").every((url) => oneNatsUrl.test(url)),
    "is not nats://host:port or tls://host:port, or several of them with commas between them",
  )
  .refine(
    (urls) => urls.split(",").every((url) => !(url.startsWith("tls://") && isIP(hostOf(url)) > 0)),
    "has tls:// with an IP address; use the host name, because the certificate of a server is checked by name",
  );

function hostOf(url: string): string {
  return url.replace(/^tls:\/\/\[?/, "").replace(/(?:\])?(?::\d{1,5})?$/, "");
}

/** The default of REEVE_ACK_WAIT_MS. */
export const defaultAckWaitMs = 15_000;

/**
 * The time without a heartbeat after which work is redelivered to another worker, in milliseconds. Use the same value in all
 * services of a deployment: each of them creates missing queues, and a consumer of a queue raises a shorter value to its own. Set
 * a longer one on machines that suspend processes for longer. The work of a process whose connection is closed does not wait
 * for it.
 */
const ackWait = z.coerce.number().int().min(300).max(600_000).default(defaultAckWaitMs);

/** A number from 1 to `max`. */
const limit = (byDefault: number, max: number) =>
  z.coerce.number().int().min(1).max(max).default(byDefault);

/** What the ports of a service accept, see `ServerLimits`. */
const limitSettings = {
  REEVE_MAX_CONNECTIONS: limit(defaultLimits.maxConnections, 1_000_000),
  REEVE_MAX_CONNECTIONS_PER_ADDRESS: limit(defaultLimits.maxConnectionsPerAddress, 1_000_000),
  REEVE_MAX_STREAMS: limit(defaultLimits.maxStreams, 100_000),
  REEVE_REQUEST_TIMEOUT_MS: limit(defaultLimits.requestTimeoutMs, 86_400_000),
  REEVE_MAX_REQUEST_BYTES: limit(defaultLimits.maxMessageBytes, 1024 ** 3),
  REEVE_MAX_REQUEST_VALUES: limit(defaultLimits.maxMessageValues, 100_000_000),
  REEVE_MAX_HELD_BYTES: limit(defaultLimits.maxHeldBytes, 64 * 1024 ** 3),
};

/** The values of the settings that limit what a port accepts. */
export type LimitSettings = Readonly<Record<keyof typeof limitSettings, number>>;

/** Returns what the ports of a service accept. */
export function limitsOf(config: LimitSettings): ServerLimits {
  return {
    maxConnections: config.REEVE_MAX_CONNECTIONS,
    maxConnectionsPerAddress: config.REEVE_MAX_CONNECTIONS_PER_ADDRESS,
    maxStreams: config.REEVE_MAX_STREAMS,
    requestTimeoutMs: config.REEVE_REQUEST_TIMEOUT_MS,
    answerStallMs: defaultLimits.answerStallMs,
    maxMessageBytes: config.REEVE_MAX_REQUEST_BYTES,
    maxMessageValues: config.REEVE_MAX_REQUEST_VALUES,
    maxHeldBytes: config.REEVE_MAX_HELD_BYTES,
  };
}

/** The settings of every service. */
export const commonSettings = {
  REEVE_NATS_URL: natsUrls.default("nats://127.0.0.1:4222"),
  REEVE_NATS_USER: z.string().optional(),
  REEVE_NATS_PASSWORD: z.string().optional(),
  [credsSetting]: z.string().optional(),
  [tlsSettings.caFile]: z.string().optional(),
  [tlsSettings.certFile]: z.string().optional(),
  [tlsSettings.keyFile]: z.string().optional(),
  REEVE_LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info"),
  REEVE_ACK_WAIT_MS: ackWait,
  /**
   * The keys with which payloads are encrypted: a folder with a file for each tenant, or a JSON file that says where Vault is. The
   * same in all services. Default: payloads are not encrypted.
   */
  REEVE_ENCRYPTION_KEYS: z.string().min(1).optional(),
  ...limitSettings,
  ...tracingSettings,
};

/** `host:port`. */
export const listenAddress = z.string().transform((text, context): ListenAddress => {
  const address = parseListenAddress(text);
  if (address !== undefined) return address;
  context.addIssue(`"${text}" is not host:port; for example, 127.0.0.1:4680`);
  return z.NEVER;
});

/**
 * The address of a service that only answers probes. The default is any free port, so that several instances fit on one
 * machine; the log has the actual port.
 */
export const probeAddress = listenAddress.prefault("127.0.0.1:0");

/** A validation issue of a setting. */
interface Issue {
  readonly path?: readonly PropertyKey[] | undefined;
}

/**
 * Returns the options of `refine` for the rule that `setting` may be missing only if `listen` is a loopback address. The rule
 * runs even if other settings are invalid, so that all problems are reported at once.
 */
export function requiredBeyondLoopback(setting: string, listen: string) {
  return {
    path: [setting],
    message: `is required because ${listen} is not a loopback address`,
    when: ({ issues }: { readonly issues: readonly Issue[] }) =>
      !issues.some(({ path }) => path?.[0] === setting || path?.[0] === listen),
  };
}
