import type { Environment } from "@reeve/platform/config";
import { CollectedFailures, collected } from "@reeve/platform/process/collected-failures";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import type { ToolhostConfig } from "./config.ts";
import { networkCredentials } from "./secrets/network-credentials.ts";
import { Secrets } from "./secrets/secrets.ts";
import { readSecretsConfig } from "./secrets/secrets-config.ts";
import { readExternalSources } from "./tools/external-tools.ts";

/** Reads the files that the settings of a toolhost name. Throws one Failure with everything that is wrong with any of them. */
export async function readFiles(config: ToolhostConfig, environment: Environment) {
  const failures = new CollectedFailures();
  const secrets = await failures.collect(async () => {
    const settings = await readSecretsConfig(config.REEVE_SECRETS_CONFIG, environment);
    return { settings, all: new Secrets(settings.sources, processRedaction) };
  });
  const credentials = await failures.collect(() =>
    secrets === undefined
      ? []
      : networkCredentials(secrets.settings.networkCredentials, secrets.all),
  );
  const files = { servers: config.REEVE_MCP_CONFIG, providers: config.REEVE_PROVIDERS_CONFIG };
  // A file of secrets that cannot be read is no reason to report that it is missing.
  const configured = secrets?.all ?? { isConfigured: true };
  const sources = await failures.collect(() => readExternalSources(files, environment, configured));
  failures.assertNone();
  return {
    secrets: collected(secrets).all,
    credentials: collected(credentials),
    sources: collected(sources),
  };
}
