import { passkeySiteOf } from "@reeve/agent/deciders/passkey-site";
import type { Environment } from "@reeve/platform/config";
import { CollectedFailures, collected } from "@reeve/platform/process/collected-failures";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { processRedaction } from "@reeve/platform/telemetry/redaction/redaction";
import { assertPasskeys } from "@reeve/run/policy/assert-passkeys";
import { watchPolicy } from "@reeve/run/policy/watch-policy";
import type { ApprovalsConfig } from "./config.ts";
import type { NotificationsOptions } from "./notify/run-notifications.ts";
import { readNotifySettings } from "./notify/settings/read-settings.ts";
import { secretReader } from "./notify/settings/secret-text.ts";

interface ReadOptions {
  /** The variables that may have secrets of receivers. */
  readonly environment: Environment;
  readonly log: Logger;
  /** Owns what watches files. */
  readonly resources: AsyncDisposableStack;
}

/** Reads the files that the settings of approvals name. Throws one Failure with everything that is wrong with any of them. */
export async function readFiles(
  config: ApprovalsConfig,
  { environment, log, resources }: ReadOptions,
) {
  const failures = new CollectedFailures();
  // In an object, because undefined stands for a failure.
  const notifications = await failures.collect(async () => ({
    read: await readNotifications(config, environment),
  }));
  const hasPasskeys = passkeySiteOf(config.REEVE_PUBLIC_URL) !== undefined;
  const policy = await failures.collect(() =>
    watchPolicy(config.REEVE_POLICY_FILE, log, resources, {
      assertApplicable: (given) => assertPasskeys(given, hasPasskeys),
    }),
  );
  failures.assertNone();
  return { notifications: collected(notifications).read, policy: collected(policy) };
}

/** Returns what notifications need, or undefined if there are no receivers. Throws a Failure if a file or a secret cannot be used. */
async function readNotifications(
  config: ApprovalsConfig,
  environment: Environment,
): Promise<NotificationsOptions | undefined> {
  const { REEVE_NOTIFY: path, REEVE_PUBLIC_URL: publicUrl, REEVE_ACK_WAIT_MS: ackWaitMs } = config;
  if (path === undefined || publicUrl === undefined) return undefined;
  const readSecret = secretReader(environment, processRedaction);
  const settings = await readNotifySettings(path, readSecret);
  return { settings, readSecret, publicUrl, ackWaitMs };
}
