import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { compositeCatalog } from "@reeve/agent/registry/composite-catalog";
import type { ModelCatalog, OfferedPlugin, SkillDescriptor } from "@reeve/contracts/agent";
import { ModelCatalogSchema } from "@reeve/contracts/agent";
import { bucketOf } from "@reeve/contracts/channel";
import type { Dispatch } from "@reeve/contracts/run";
import type { WorkerPresence } from "@reeve/contracts/worker-presence";
import { WorkerPresenceSchema } from "@reeve/contracts/worker-presence";
import { workRuns } from "@reeve/engine/drive/work-runs";
import { QueueHolder } from "@reeve/jetstream/queue/queue-holder";
import { watchReserve } from "@reeve/jetstream/reserve/watch-reserve";
import { openSealing } from "@reeve/jetstream/sealing/open-sealing";
import { LaterTable } from "@reeve/jetstream/table/later-table";
import { openTable } from "@reeve/jetstream/table/nats";
import { abortLater } from "@reeve/platform/async/abort-later";
import { Background } from "@reeve/platform/async/background";
import { systemClock } from "@reeve/platform/async/clock";
import { StandstillMeter } from "@reeve/platform/async/standstill-meter";
import type { Environment } from "@reeve/platform/config";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { configuredPlugins } from "@reeve/plugin/host/configured-plugins";
import { answerLiveness } from "@reeve/run/liveness/answer-liveness";
import { logLiveness } from "@reeve/run/liveness/liveness";
import { allCheckedRules, runtimePrefix } from "@reeve/run/policy/runtime-checks";
import { rememberLast } from "@reeve/platform/remember-last";
import { AnnouncedCatalog } from "./announced-catalog.ts";
import { withRemoteAgents } from "./remote-agents/open-remote-agents.ts";
import type { RuntimeConfig } from "./config.ts";
import type { LocalCalls } from "./open-ports.ts";
import { openPorts } from "./open-ports.ts";
import { deployedExecutor } from "./executors/executors.ts";
import { readFiles } from "./read-files.ts";
import { keepPresence } from "./presence/keep-presence.ts";
import { ModelActivity } from "./presence/model-activity.ts";
import { StoredModels } from "./stored-models.ts";
import { SkillStore } from "@reeve/models/skills/skill-store";
import { watchSkills } from "@reeve/models/skills/watch-skills";

/** How long a run waits for skills that this runtime does not have yet. A change of the folder is seen within five seconds. */
const skillSettleMs = 10_000;

interface RuntimeDependencies {
  readonly nats: Nats;
  readonly log: Logger;
  /** The variables that the files of models and of plugins may name for keys. Default: none. */
  readonly environment?: Environment;
  /** Called with the number of runs that this runtime drives, whenever it changes. */
  readonly onActiveRuns?: (count: number) => void;
  /** The way of calls to a toolhost in this process. Default: through the queue. */
  readonly localCalls?: LocalCalls | undefined;
}

/** Starts a runtime, which drives runs until it is disposed. It then releases its runs, so that other runtimes continue them. */
export async function startRuntime(
  config: RuntimeConfig,
  { nats, log: logger, environment = {}, onActiveRuns, localCalls }: RuntimeDependencies,
  signal: AbortSignal,
): Promise<AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  await openSealing(nats, config, { mayCreate: true, log: logger });
  const worker = `${runtimePrefix}${randomBytes(6).toString("hex")}`;
  // Disposed after the background work, which settles the messages of this worker.
  const { REEVE_EXECUTOR: executor } = config;
  const known = { name: worker, log: logger, checks: allCheckedRules, executor };
  const holder = starting.use(await QueueHolder.open(nats, known, signal));
  const standstill = starting.use(new StandstillMeter(systemClock));
  // Disposed after the background work: a worker that drains is still shown.
  const presence = starting.use(new AsyncDisposableStack());
  const files = await readFiles(config, { environment, log: logger, resources: starting }, signal);
  // The remote agents are disposed after the background work, whose drain waits for their answers.
  const { plugins: configs, skills: loaded, policy, remoteAgents, embedder } = files;
  // Disposed after the background work, whose drain waits for hooks and calls of plugins.
  const plugins = starting.use(await configuredPlugins(configs, logger, signal));
  const background = starting.use(new Background(logger, signal));
  const providers = withRemoteAgents(files.providers, remoteAgents?.provider);
  const models = await openTable(nats, ModelCatalogSchema);
  const skillFolder = { path: config.REEVE_SKILLS, log: logger };
  const isWatched = config.REEVE_SKILLS !== undefined;
  const skills = new SkillStore(loaded.skills, { settleMs: isWatched ? skillSettleMs : 0 });
  plugins.remember((await models.get("default", signal))?.record.plugins ?? []);
  const catalogWith = (offered: readonly SkillDescriptor[]) => ({
    ...withPlugins(providers.catalog, plugins.offers),
    skills: [...offered],
  });
  const parts = () => [...skills.descriptors, ...plugins.offers];
  const localCatalog = rememberLast<unknown, ReturnType<typeof catalogWith>>(parts, () =>
    catalogWith(skills.descriptors),
  );
  const storedModels = await StoredModels.open(nats, logger, background.signal);
  const catalog = rememberLast<unknown, ModelCatalog>(
    () => [localCatalog(), storedModels.registry],
    () => compositeCatalog(localCatalog(), storedModels.registry),
  );
  const announced = new AnnouncedCatalog({ table: models, skills, catalogWith, log: logger });
  const announce = async () => await announced.announce(background.signal);
  await announce();
  const activity = new ModelActivity(systemClock);
  const offered = {
    providers,
    storedModels,
    plugins,
    catalog,
    skills,
    policy,
    embedder,
    remoteAgents,
  };
  const ports = await openPorts(
    config,
    { ...offered, nats, holder, worker, standstill, activity, localCalls, logger },
    background.signal,
  );
  const liveness = logLiveness({ runs: ports.logEnds, threads: ports.threads });
  starting.use(answerLiveness(nats, liveness, logger, background.signal));
  const driven: { list?: () => readonly Dispatch[] } = {};
  const reportActiveRuns: typeof ports.reportActiveRuns = (count, list) => {
    driven.list = list;
    ports.reportActiveRuns?.(count, list);
    onActiveRuns?.(count);
  };
  const slots = config.REEVE_RUNTIME_CONCURRENCY;
  const runs = () => driven.list?.() ?? [];
  const state = { worker, slots, runs, activity, clock: systemClock, log: logger };
  presence.use(keepPresence(presenceTable(nats), state, background.signal));
  const driving = { ...ports, reportActiveRuns };
  const carried = await deployedExecutor(executor).carry(config, driving);
  const now = abortLater(config.REEVE_DRAIN_MS, background.signal);
  if (configs.length > 0) background.run((until) => plugins.watch(announce, until));
  const useSkills = async (changed: typeof loaded.skills) =>
    await announced.useSkills(changed, background.signal);
  if (isWatched) {
    background.run((until) => watchSkills(skillFolder, loaded, useSkills, until));
  }
  if (isWatched || configs.length > 0) background.run((until) => announced.restore(until));
  background.run((until) => watchReserve(nats, { log: logger }, until));
  background.run((drain) =>
    workRuns(carried, driving, config.REEVE_RUNTIME_CONCURRENCY, { drain, now }),
  );
  logger.info({ worker, providers: [...providers.byName.keys()] }, "runtime works");
  return starting.move();
}

/** The table may be missing, or closed to this worker, while a deployment changes to this version. */
function presenceTable(nats: Nats): LaterTable<WorkerPresence> {
  return new LaterTable(bucketOf(WorkerPresenceSchema).name, () =>
    openTable(nats, WorkerPresenceSchema, { usesReserve: false }),
  );
}

function withPlugins(catalog: ModelCatalog, plugins: readonly OfferedPlugin[]): ModelCatalog {
  return plugins.length === 0
    ? catalog
    : create(ModelCatalogSchema, { ...catalog, plugins: [...plugins] });
}
