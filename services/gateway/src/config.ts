import { join } from "node:path";
import { isLoopback } from "@reeve/platform/config";
import {
  commonSettings,
  listenAddress,
  requiredBeyondLoopback,
} from "@reeve/platform/process/settings";
import { clientTlsSettings, serverTlsSettings } from "@reeve/platform/tls/tls-settings";
import { addressRanges, networkEntries } from "@reeve/sandbox/network/network-settings";
import { z } from "zod";
import { addressList, urlList } from "./a2a/push/push-settings.ts";
import { permittedClasses } from "./app/client-tools/permitted-classes.ts";
import { tenantName } from "./auth/names.ts";
import { tokenList } from "./auth/token-list.ts";

/** In a clone and in the images. */
const builtConsole = join(import.meta.dirname, "../../../console/dist");

/** The settings of a gateway, from environment variables. */
export const gatewayConfig = z
  .object({
    ...commonSettings,
    ...serverTlsSettings,
    ...clientTlsSettings,
    /** A file that says whom the certificates of clients stand for. Default: they are no credentials. */
    REEVE_TLS_CLIENTS_FILE: z.string().min(1).optional(),
    /** Whether requests without a certificate of a client are refused. Probes and metrics need none. */
    REEVE_TLS_CLIENT_REQUIRED: z.stringbool().default(false),
    REEVE_LISTEN: listenAddress.prefault("127.0.0.1:4680"),
    /** Which agents are offered through the A2A protocol: none, those whose spec has `a2a.enabled`, or all. */
    REEVE_A2A: z.enum(["off", "marked", "all"]).default("marked"),
    /**
     * Where clients of A2A reach the gateway over gRPC, as `host:port`, which agent cards name; `off`: cards offer no gRPC. Default: the host
     * of each request, and `off` with REEVE_PUBLIC_URL.
     */
    REEVE_A2A_GRPC: z
      .string()
      .regex(
        /^(?:off|(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+):\d{1,5})$/i,
        "is neither off nor of the form host:port",
      )
      .optional(),
    /** A file with the private key that signs agent cards, in PEM, which is read again when it changes. Default: cards are not signed. */
    REEVE_A2A_CARD_KEY_FILE: z.string().min(1).optional(),
    /** What the URLs of push notifications of A2A begin with, separated by commas. Default: none are sent. */
    REEVE_A2A_PUSH: urlList.prefault(""),
    /** Addresses and ranges of private networks to which they may be sent, separated by commas. Default: none. */
    REEVE_A2A_PUSH_ADDRESSES: addressList.prefault(""),
    /** Whether browsers get the console at `/`. */
    REEVE_CONSOLE: z.stringbool().default(true),
    /** The folder with the build of the console. Default: the one of this installation. */
    REEVE_CONSOLE_DIR: z.string().min(1).default(builtConsole),
    /** The bearer tokens with their principals and roles. Default: a generated development token in a file that the log names. */
    REEVE_TOKENS: tokenList.prefault(""),
    /** A file of tokens by digest, which is read again when it changes. Its tokens are valid beside those of REEVE_TOKENS. */
    REEVE_TOKENS_FILE: z.string().min(1).optional(),
    /** A file that names an OpenID Connect provider, and says whom its tokens stand for. */
    REEVE_OIDC_CONFIG: z.string().min(1).optional(),
    /** The file with the registry of models, of which the gateway uses the section `embeddings`. Use the same file in all gateways and runtimes. */
    REEVE_MODELS: z.string().min(1).optional(),
    /** The key for a model of embeddings at OpenAI. */
    OPENAI_API_KEY: z.string().optional(),
    OPENAI_BASE_URL: z.url().optional(),
    /** Hosts and ports from which documents of collections may be fetched, such as `*.example.org:443`. Default: none. */
    REEVE_NETWORK_ALLOW: networkEntries.prefault(""),
    /** Addresses and ranges of this host, its links, and private networks from which documents may be fetched. */
    REEVE_NETWORK_RANGES: addressRanges.prefault(""),
    /** How many bytes the connections for one document may transfer together. */
    REEVE_NETWORK_MAX_BYTES: z.coerce.number().int().min(1).default(268_435_456),
    /** The file with the operator's policy, which is read again when it changes. Use the same file in all gateways and runtimes. */
    REEVE_POLICY_FILE: z.string().min(1).optional(),
    /**
     * Whether calls that change something are refused while the audit trail cannot be written (`required`), are accepted
     * (`best-effort`), or are not recorded at all (`off`).
     */
    REEVE_AUDIT: z.enum(["required", "best-effort", "off"]).default("best-effort"),
    /** The tenant whose operators see the state of the deployment, and the events without a tenant, such as failed sign-ins. Default: none. */
    REEVE_AUDIT_TENANT: z.string().regex(tenantName, "is not the name of a tenant").optional(),
    /** The private key that signs receipts: Ed25519, PKCS #8 in PEM, without a passphrase. Use the same key in all gateways. Default: no receipts. */
    REEVE_RECEIPT_KEY_FILE: z.string().min(1).optional(),
    /** A file with the public keys of earlier receipts, in PEM, that stay listed. */
    REEVE_RECEIPT_PUBLIC_KEYS_FILE: z.string().min(1).optional(),
    REEVE_APPROVALS_URL: z.url({ protocol: /^https?$/ }).default("http://127.0.0.1:4681"),
    /** The authorities that sign the certificate of approvals, as PEM. Default: the public ones. */
    REEVE_APPROVALS_CA_FILE: z.string().optional(),
    /** Whether a network that has sent many wrong tokens is refused further ones. Not behind a proxy that hides addresses. */
    REEVE_SIGN_IN_LIMIT: z.enum(["on", "off"]).default("on"),
    /** A file of quotas, which is read again when it changes. Default: no quotas. */
    REEVE_QUOTAS_FILE: z.string().min(1).optional(),
    /** The address under which people reach the gateway, for their passkeys, and for agent cards. Use the same value in approvals. Default: no passkeys. */
    REEVE_PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
    /** The secret that the gateway and approvals share; approvals refuses all other callers. */
    REEVE_INTERNAL_TOKEN: z.string().min(16).optional(),
    /**
     * The folder for indexes of lists, which are built again when they are missing. Default: temporary files, so that every start
     * builds them again.
     */
    REEVE_INDEX_DIR: z.string().optional(),
    /** The maximum size of an artifact, in bytes. */
    REEVE_MAX_ARTIFACT_BYTES: z.coerce
      .number()
      .int()
      .min(1)
      .max(2 ** 32 - 1)
      .default(104_857_600),
    /**
     * How many bytes of the store are kept for the end of what has begun: when the store is full, they are used, and nothing
     * new is accepted. 0: none. Use the same value in all gateways.
     */
    REEVE_STORE_RESERVE_BYTES: z.coerce
      .number()
      .int()
      .min(0)
      .max(2 ** 40)
      .default(16_777_216),
    /** The minimum time between two firings of a schedule, in seconds. */
    REEVE_TRIGGER_MIN_INTERVAL_S: z.coerce.number().int().min(60).max(86_400).default(60),
    /** How many triggers a tenant may have. */
    REEVE_MAX_TRIGGERS: z.coerce.number().int().min(0).max(10_000).default(100),
    /** The classes that tools of clients can have, such as `network,editor_mutate`. Empty: clients offer no tools. */
    REEVE_CLIENT_TOOL_CLASSES: permittedClasses.prefault("network,editor_mutate"),
    /** How many days a run is kept after its end. Default: forever. Use the same values in all gateways. */
    REEVE_RETAIN_DAYS: z.coerce.number().positive().max(36_500).optional(),
    /** How many runs of each tenant are kept after their end. Default: all. */
    REEVE_RETAIN_RUNS: z.coerce.number().int().min(1).max(1_000_000_000).optional(),
    /** How many days after its end the log of a run is moved to the archive. Default: never. Use the same value in all gateways. */
    REEVE_ARCHIVE_DAYS: z.coerce.number().min(7).max(36_500).optional(),
  })
  .refine(
    ({
      REEVE_TLS_CLIENT_CA_FILE: ca,
      REEVE_TLS_CLIENTS_FILE: clients,
      REEVE_TLS_CLIENT_REQUIRED: isRequired,
    }) => (ca === undefined) === (clients === undefined && !isRequired),
    {
      path: ["REEVE_TLS_CLIENT_CA_FILE"],
      message:
        "is used with REEVE_TLS_CLIENTS_FILE, REEVE_TLS_CLIENT_REQUIRED, or both, and they need it; set one of them too, or none",
    },
  )
  .refine(
    ({ REEVE_APPROVALS_URL: url, REEVE_APPROVALS_CA_FILE: file }) =>
      file === undefined || url.startsWith("https:"),
    {
      path: ["REEVE_APPROVALS_CA_FILE"],
      message: "needs REEVE_APPROVALS_URL with https://, because nothing is verified otherwise",
    },
  )
  .refine(
    ({ REEVE_A2A_CARD_KEY_FILE: file, REEVE_PUBLIC_URL: url }) =>
      file === undefined || url !== undefined,
    {
      path: ["REEVE_A2A_CARD_KEY_FILE"],
      message:
        "needs REEVE_PUBLIC_URL, because a signed card would otherwise name whatever host a client sends",
    },
  )
  .refine(
    ({
      REEVE_LISTEN: { host },
      REEVE_TOKENS: tokens,
      REEVE_TOKENS_FILE: file,
      REEVE_OIDC_CONFIG: oidc,
      REEVE_TLS_CLIENTS_FILE: clients,
    }) =>
      isLoopback(host) ||
      tokens.size > 0 ||
      [file, oidc, clients].some((path) => path !== undefined),
    requiredBeyondLoopback("REEVE_TOKENS", "REEVE_LISTEN"),
  );

export type GatewayConfig = z.infer<typeof gatewayConfig>;
