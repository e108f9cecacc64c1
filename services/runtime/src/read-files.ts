import type { Policy } from "@reeve/agent/policy/policy";
import type { LoadedSkills } from "@reeve/models/skills/watch-skills";
import { loadSkills } from "@reeve/models/skills/watch-skills";
import type { Providers } from "@reeve/models/registry/provider-registry";
import { openProviders } from "@reeve/models/registry/provider-registry";
import type { Environment } from "@reeve/platform/config";
import { CollectedFailures, collected } from "@reeve/platform/process/collected-failures";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { readPluginConfig } from "@reeve/plugin/host/plugin-config";
import { watchPolicy } from "@reeve/run/policy/watch-policy";
import type { RuntimeConfig } from "./config.ts";

/** What the files of a runtime say. */
export interface RuntimeFiles {
  readonly plugins: Awaited<ReturnType<typeof readPluginConfig>>;
  readonly providers: Providers;
  readonly skills: LoadedSkills;
  /** Returns the operator's policy of now. */
  readonly policy: () => Policy | undefined;
}

interface ReadOptions {
  /** The variables that the files may name. */
  readonly environment: Environment;
  readonly log: Logger;
  /** Owns what watches files. */
  readonly resources: AsyncDisposableStack;
}

/** Reads the files that the settings of a runtime name. Throws one Failure with everything that is wrong with any of them. */
export async function readFiles(
  config: RuntimeConfig,
  { environment, log, resources }: ReadOptions,
  signal: AbortSignal,
): Promise<RuntimeFiles> {
  const failures = new CollectedFailures();
  const plugins = await failures.collect(() => readPluginConfig(config.REEVE_PLUGINS, environment));
  const providers = await failures.collect(() => openProviders({ ...config, environment }, signal));
  const folder = { path: config.REEVE_SKILLS, log };
  const skills = await failures.collect(() => loadSkills(folder, signal));
  const policy = await failures.collect(() =>
    watchPolicy(config.REEVE_POLICY_FILE, log, resources),
  );
  failures.assertNone();
  return {
    plugins: collected(plugins),
    providers: collected(providers),
    skills: collected(skills),
    policy: collected(policy),
  };
}
