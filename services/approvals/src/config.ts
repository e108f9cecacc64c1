import { commonSettings, listenAddress } from "@reeve/platform/process/settings";
import { serverTlsSettings } from "@reeve/platform/tls/tls-settings";
import { z } from "zod";

/** The settings of approvals, from environment variables. */
export const approvalsConfig = z
  .object({
    ...commonSettings,
    ...serverTlsSettings,
    /** Each gateway sends all requests of its clients over one connection. */
    REEVE_MAX_STREAMS: commonSettings.REEVE_MAX_STREAMS.unwrap().default(10_000),
    REEVE_APPROVALS_LISTEN: listenAddress.prefault("127.0.0.1:4681"),
    /**
     * The folder for indexes of lists, which are built again when they are missing. Default: temporary files, so that every start
     * builds them again.
     */
    REEVE_INDEX_DIR: z.string().optional(),
    /**
     * Whether approvals wait with their expiry while the audit trail cannot be written (`required`), expire (`best-effort`), or
     * expire without a record (`off`). Use the same value in the gateway.
     */
    REEVE_AUDIT: z.enum(["required", "best-effort", "off"]).default("best-effort"),
    /** The operator's policy, for its section `approvals`. Use the same file in all gateways and runtimes. Default: there is none. */
    REEVE_POLICY_FILE: z.string().min(1).optional(),
    /** The file with the receivers of notifications. Default: there are none. */
    REEVE_NOTIFY: z.string().min(1).optional(),
    /** The address under which people reach the gateway. Notifications link to it. */
    REEVE_PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
    /** The secret that the gateway and approvals share; all other callers are refused. */
    REEVE_INTERNAL_TOKEN: z
      .string("is required: other users of this machine could call approvals otherwise")
      .min(16),
  })
  .refine(
    ({ REEVE_NOTIFY: receivers, REEVE_PUBLIC_URL: url }) =>
      receivers === undefined || url !== undefined,
    {
      path: ["REEVE_PUBLIC_URL"],
      message: "is required because REEVE_NOTIFY is set: messages link to it",
      when: ({ issues }) => !issues.some(({ path }) => path?.[0] === "REEVE_PUBLIC_URL"),
    },
  );

export type ApprovalsConfig = z.infer<typeof approvalsConfig>;
