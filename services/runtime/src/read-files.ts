import { openEmbedder } from "@reeve/models/embeddings/open-embedder";
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
import type { OpenedRemoteAgents } from "./remote-agents/open-remote-agents.ts";
import { openRemoteAgents } from "./remote-agents/open-remote-agents.ts";

/** What the files of a runtime say. */
export interface RuntimeFiles {
  readonly plugins: Awaited<ReturnType<typeof readPluginConfig>>;
  readonly providers: Providers;
  readonly skills: LoadedSkills;
  /** Undefined: there is no file of remote agents. */
  readonly remoteAgents: OpenedRemoteAgents | undefined;
  /** Undefined: the file of models has no embeddings. */
  readonly embedder: Awaited<ReturnType<typeof openEmbedder>>;
  /** Returns the operator's policy of now. */
  readonly policy: () => Policy | undefined;
}

interface ReadOptions {
  /** The variables that the files may name. */
  readonly environment: Environment;
  readonly log: Logger;
  /** Owns what watches files, and the connections to remote agents. */
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
  const agents = await failures.collect(async () => {
    const opened = await openRemoteAgents(config.REEVE_A2A_REMOTES, environment, signal);
    if (opened !== undefined) resources.use(opened);
    return { opened };
  });
  // What is wrong with the file as a whole is reported once.
  const embedding =
    providers &&
    (await failures.collect(async () => ({
      embedder: await openEmbedder({ ...config, environment }, signal),
    })));
  failures.assertNone();
  return {
    plugins: collected(plugins),
    providers: collected(providers),
    skills: collected(skills),
    remoteAgents: collected(agents).opened,
    embedder: collected(embedding).embedder,
    policy: collected(policy),
  };
}
