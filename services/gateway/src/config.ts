import { ackWait } from "@reeve/platform/ack-wait";
import { isLoopback, parseListenAddress } from "@reeve/platform/config";
import type { Principal } from "@reeve/platform/principal";
import { z } from "zod";

/** `token=tenant/subject`, separated by commas. */
const tokens = z.string().transform((text, context): ReadonlyMap<string, Principal> => {
  const principals = new Map<string, Principal>();
  for (const entry of text.split(",").map((part) => part.trim())) {
    if (entry === "") continue;
    const [, token, tenant, subject] =
      /^([^=\s]{8,})=([a-z0-9][a-z0-9-]{0,62})\/([^\s/,]{1,128})$/.exec(entry) ?? [];
    if (token === undefined || tenant === undefined || subject === undefined) {
      // The entry itself is a secret.
      context.addIssue(
        "an entry is not token=tenant/subject with a token of at least 8 characters",
      );
      return z.NEVER;
    }
    principals.set(token, { tenant, subject });
  }
  return principals;
});

const listen = z.string().transform((text, context) => {
  const address = parseListenAddress(text);
  if (address !== undefined) return address;
  context.addIssue(`"${text}" is not host:port`);
  return z.NEVER;
});

/** The settings of a gateway, from environment variables. */
export const gatewayConfig = z
  .object({
    REEVE_NATS_URL: z.string().default("nats://127.0.0.1:4222"),
    REEVE_LOG_LEVEL: z.string().default("info"),
    REEVE_ACK_WAIT_MS: ackWait,
    REEVE_LISTEN: listen.prefault("127.0.0.1:4680"),
    /** Bearer tokens and who has them. Without any, a token for development is made and printed. */
    REEVE_TOKENS: tokens.prefault(""),
    REEVE_APPROVALS_URL: z.url().default("http://127.0.0.1:4681"),
    /** What gateway and approvals share; approvals refuses every other caller. */
    REEVE_INTERNAL_TOKEN: z.string().min(16).optional(),
    /** The largest artifact, in bytes. */
    REEVE_MAX_ARTIFACT_BYTES: z.coerce
      .number()
      .int()
      .min(1)
      .max(2 ** 32 - 1)
      .default(104_857_600),
  })
  .superRefine((config, context) => {
    if (isLoopback(config.REEVE_LISTEN.host) || config.REEVE_TOKENS.size > 0) return;
    context.addIssue({
      code: "custom",
      path: ["REEVE_TOKENS"],
      message: `is needed to listen on ${config.REEVE_LISTEN.host}: without tokens only loopback is served`,
    });
  });

export type GatewayConfig = z.infer<typeof gatewayConfig>;
