import { passkeySiteOf } from "@reeve/agent/deciders/passkey-site";
import { openEmbedder } from "@reeve/models/embeddings/open-embedder";
import type { Environment } from "@reeve/platform/config";
import { CollectedFailures, collected } from "@reeve/platform/process/collected-failures";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { assertPasskeys } from "@reeve/run/policy/assert-passkeys";
import { watchPolicy } from "@reeve/run/policy/watch-policy";
import { openCredentials } from "./auth/open-credentials.ts";
import type { GatewayConfig } from "./config.ts";
import { readConsoleSignIn } from "./console/console-sign-in.ts";
import { openQuotas } from "./quotas/open-quotas.ts";

interface ReadOptions {
  /** The variables that the file of models may name for keys. Default: none. */
  readonly environment: Environment | undefined;
  readonly log: Logger;
  /** Owns what watches files. */
  readonly resources: AsyncDisposableStack;
}

/** Reads the files that the settings of a gateway name. Throws one Failure with everything that is wrong with any of them. */
export async function readFiles(
  config: GatewayConfig,
  { environment, log, resources }: ReadOptions,
  signal: AbortSignal,
) {
  const failures = new CollectedFailures();
  const hasPasskeys = passkeySiteOf(config.REEVE_PUBLIC_URL) !== undefined;
  const policy = await failures.collect(() =>
    watchPolicy(config.REEVE_POLICY_FILE, log, resources, {
      assertApplicable: (given) => assertPasskeys(given, hasPasskeys),
    }),
  );
  const quotas = await failures.collect(() => openQuotas(config, log, resources));
  // In an object, because undefined stands for a failure.
  const embedder = await failures.collect(async () => ({
    opened: await openEmbedder({ ...config, environment }, signal),
  }));
  const credentials = await failures.collect(() => openCredentials(config, log, resources));
  const signIn = await failures.collect(async () => ({
    read: await readConsoleSignIn(config.REEVE_OIDC_CONFIG),
  }));
  failures.assertNone();
  return {
    policy: collected(policy),
    quotas: collected(quotas),
    embedder: collected(embedder).opened,
    credentials: collected(credentials),
    signIn: collected(signIn).read,
  };
}
