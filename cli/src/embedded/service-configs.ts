import { join } from "node:path";
import { approvalsConfig } from "@reeve/approvals/config";
import { gatewayConfig } from "@reeve/gateway/config";
import type { Environment } from "@reeve/platform/config";
import { readConfig } from "@reeve/platform/config";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { clientTlsSettings, serverTlsSettings } from "@reeve/platform/tls/tls-settings";
import { runtimeConfig } from "@reeve/runtime/config";
import { auditLimitsConfig, auditLimitsOf, runShardsConfig } from "../commands/provision-config.ts";
import { consoleBuild } from "./ensure-console.ts";
import { toolhostConfig } from "@reeve/toolhost/config";

/** Values of an embedded deployment that are known only when it starts. */
export interface EmbeddedParts {
  readonly listen: string;
  readonly dataDir: string;
  readonly token: string;
  readonly internalToken: string;
  /** The file with the key that signs receipts, unless the settings name another one. */
  readonly receiptKeyFile: string;
}

/** Scripts of the examples, with which everything runs without an API key. */
const exampleScripts = join(import.meta.dirname, "../../../examples/scripts");

/** The settings for TLS, which an embedded deployment does not serve. */
const tlsSettings = [
  ...Object.keys({ ...serverTlsSettings, ...clientTlsSettings }),
  "REEVE_APPROVALS_CA_FILE",
  "REEVE_TLS_CLIENTS_FILE",
  "REEVE_TLS_CLIENT_REQUIRED",
];

/** Returns the configuration of each service. Throws a Failure that lists every invalid environment variable. */
export function serviceConfigs(settings: Environment, parts: EmbeddedParts) {
  assertNoTls(settings);
  const environment: Environment = {
    ...settings,
    // An embedded deployment connects to its own server only.
    REEVE_NATS_URL: undefined,
    REEVE_LISTEN: parts.listen,
    REEVE_DATA_DIR: parts.dataDir,
    REEVE_INDEX_DIR: join(parts.dataDir, "index"),
    REEVE_TOKENS: [`${parts.token}=local/me`, settings["REEVE_TOKENS"] ?? ""].join(","),
    REEVE_APPROVALS_LISTEN: "127.0.0.1:0",
    REEVE_INTERNAL_TOKEN: parts.internalToken,
    REEVE_SCRIPTS: settings["REEVE_SCRIPTS"] || exampleScripts,
    REEVE_POOL: "default",
    REEVE_CONSOLE_DIR: settings["REEVE_CONSOLE_DIR"] || consoleBuild,
    REEVE_RECEIPT_KEY_FILE: settings["REEVE_RECEIPT_KEY_FILE"] || parts.receiptKeyFile,
    // The person with the token of the data folder operates the deployment.
    REEVE_AUDIT_TENANT: settings["REEVE_AUDIT_TENANT"] || "local",
  };
  return {
    audit: auditLimitsOf(readConfig(auditLimitsConfig, environment)),
    runShards: readConfig(runShardsConfig, environment).REEVE_RUN_SHARDS,
    toolhost: readConfig(toolhostConfig, environment),
    runtime: readConfig(runtimeConfig, environment),
    approvals: readConfig(approvalsConfig, environment),
    gateway: (approvalsUrl: string) =>
      readConfig(gatewayConfig, { ...environment, REEVE_APPROVALS_URL: approvalsUrl }),
  };
}

/** Throws a Failure if there are settings for TLS: who sets them must not be served without. */
function assertNoTls(settings: Environment): void {
  const given = tlsSettings.filter((name) => settings[name]);
  if (given.length === 0) return;
  throw new Failure(
    "invalid",
    ErrorReason.INVALID_REQUEST,
    `${given.join(" and ")} cannot be used here: \`reeve up\` serves its API without TLS; unset them, or start the services as processes, as docs/deploy.md describes`,
  );
}
