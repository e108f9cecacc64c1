import { ackWait } from "@reeve/platform/ack-wait";
import { isLoopback, parseListenAddress } from "@reeve/platform/config";
import { z } from "zod";

const listen = z.string().transform((text, context) => {
  const address = parseListenAddress(text);
  if (address !== undefined) return address;
  context.addIssue(`"${text}" is not host:port`);
  return z.NEVER;
});

/** The settings of approvals, from environment variables. */
export const approvalsConfig = z
  .object({
    REEVE_NATS_URL: z.string().default("nats://127.0.0.1:4222"),
    REEVE_LOG_LEVEL: z.string().default("info"),
    REEVE_ACK_WAIT_MS: ackWait,
    REEVE_APPROVALS_LISTEN: listen.prefault("127.0.0.1:4681"),
    /** What gateway and approvals share; every other caller is refused. */
    REEVE_INTERNAL_TOKEN: z.string().min(16).optional(),
  })
  .superRefine((config, context) => {
    const { REEVE_APPROVALS_LISTEN: address, REEVE_INTERNAL_TOKEN: token } = config;
    if (isLoopback(address.host) || token !== undefined) return;
    context.addIssue({
      code: "custom",
      path: ["REEVE_INTERNAL_TOKEN"],
      message: `is needed to listen on ${address.host}: without it only loopback is served`,
    });
  });

export type ApprovalsConfig = z.infer<typeof approvalsConfig>;
