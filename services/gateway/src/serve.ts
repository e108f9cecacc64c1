import { randomUUID } from "node:crypto";
import { ProjectionSchema } from "@reeve/contracts/projection";
import { RunSchema } from "@reeve/contracts/run";
import { SweeperPresenceSchema } from "@reeve/contracts/sweeper";
import { ThreadSchema } from "@reeve/contracts/thread";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { ThreadKey } from "@reeve/jetstream/log/thread-log";
import type { ProjectionOverNats } from "@reeve/jetstream/projection/keep-projection-over-nats";
import { keepProjectionOverNats } from "@reeve/jetstream/projection/keep-projection-over-nats";
import { openRunCatalog, openThreadCatalog } from "@reeve/jetstream/projection/nats-catalog";
import { openThreadFeed } from "@reeve/jetstream/feed/nats";
import { openPositionedRunFeed } from "@reeve/jetstream/feed/positioned/nats";
import { openArchiver } from "@reeve/jetstream/log/archiver";
import { eraseOrphans } from "@reeve/jetstream/log/erase-orphans";
import { keepReserve } from "@reeve/jetstream/reserve/keep-reserve";
import { bucketInstance, openTable } from "@reeve/jetstream/table/nats";
import { Background } from "@reeve/platform/async/background";
import { steadyClock, systemClock } from "@reeve/platform/async/clock";
import type { Environment } from "@reeve/platform/config";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import type { Listener } from "@reeve/platform/rpc/listener";
import { wakeRun } from "@reeve/run/commands/wake-run";
import { expireCalls } from "@reeve/run/client-calls/expire-calls";
import { authenticate } from "@reeve/platform/rpc/principal";
import { limitsOf } from "@reeve/platform/process/settings";
import type { RunningServer } from "@reeve/platform/rpc/server";
import { serve } from "@reeve/platform/rpc/server";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { watchStoredAgents } from "./app/explain/check-stored-agents.ts";
import type { GatewayPorts } from "./app/gateway-ports.ts";
import { archiveRuns } from "./app/retention/archive-runs.ts";
import { retainRuns } from "./app/retention/retain-runs.ts";
import { repairThreads } from "./app/sweep/repair-threads.ts";
import type { Deadlines } from "./app/sweep/sweep-runs.ts";
import { sweepRuns } from "./app/sweep/sweep-runs.ts";
import { sweepSkills } from "./app/sweep/sweep-skills.ts";
import { fireTriggers } from "./app/triggers/schedule/fire-triggers.ts";
import { openApprovalsTransport } from "./approvals-transport.ts";
import type { Audit } from "./audit/open-audit.ts";
import { openAudit } from "./audit/open-audit.ts";
import { limitSignIns } from "./auth/limit-sign-ins.ts";
import { refuseDeletedTenants } from "./auth/refuse-deleted-tenants.ts";
import type { GatewayConfig } from "./config.ts";
import { consoleSite } from "./console/console-site.ts";
import { firstSite } from "./hooks/first-site.ts";
import { hookSite } from "./hooks/hook-site.ts";
import { sweepCollections } from "./app/knowledge/sweep-collections.ts";
import { openPorts } from "./open-ports.ts";
import { openA2a } from "./open-a2a.ts";
import { openTriggers, webhooks } from "./open-triggers.ts";
import { readFiles } from "./read-files.ts";
import { limitRequests } from "./quotas/limit-requests.ts";
import { openSealing } from "@reeve/jetstream/sealing/open-sealing";
import { dropOrphans } from "@reeve/jetstream/projection/drop-orphans";
import { compareRun } from "./projections/compare-run.ts";
import { compareThread } from "./projections/compare-thread.ts";
import { deletedRuns } from "./projections/deleted-runs.ts";
import { indexRuns } from "./projections/run-index.ts";
import { indexThreads } from "./projections/thread-index.ts";
import { answerExistence } from "@reeve/run/existence/answer-existence";
import { answerLiveness } from "@reeve/run/liveness/answer-liveness";
import { logLiveness } from "@reeve/run/liveness/liveness";
import { openReceiptKeys } from "./receipts/open-receipt-keys.ts";
import { plainDocuments } from "./rpc/plain-documents.ts";
import { plainRoutes } from "./rpc/plain-routes.ts";
import { gatewayServices } from "./services.ts";

const dayMs = 86_400_000;

interface GatewayDependencies {
  readonly nats: Nats;
  readonly log: Logger;
  /** The variables that the file of models may name for keys. Default: none. */
  readonly environment?: Environment;
  /** The open port of the process. Default: the gateway opens REEVE_LISTEN. */
  readonly listener?: Listener;
  /**
   * Whether this process is known to be the only gateway of its store. A second gateway does little harm: the two repeat each
   * other's work, and see each other's agents a moment later. Default: false, gateways share their work.
   */
  readonly isOnlyGateway?: boolean;
}

/**
 * Starts the gateway, the public entry point of a deployment: it serves the API, keeps the indexes of runs and threads, and
 * repairs runs and threads that others left unfinished, until it is disposed.
 */
export async function startGateway(
  config: GatewayConfig,
  { nats, log, environment, listener, isOnlyGateway = false }: GatewayDependencies,
  signal: AbortSignal,
): Promise<RunningServer> {
  await using starting = new AsyncDisposableStack();
  const reading = { environment, log, resources: starting };
  const files = await readFiles(config, reading, signal);
  const { policy, quotas, embedder, credentials, signIn } = files;
  await openSealing(nats, config, { mayCreate: true, log });
  const background = starting.use(new Background(log, signal));
  const opened = { nats, log, policy, quotas, embedder, isOnlyGateway };
  const ports = await openPorts(config, opened, background.signal);
  const end = new AbortController();
  const ending = AbortSignal.any([signal, end.signal]);
  const liveness = logLiveness({ runs: ports.logEnds, threads: ports.threads });
  starting.use(answerLiveness(nats, liveness, log, background.signal));
  starting.use(answerExistence(nats, ports.logEnds, log, background.signal));
  const approvals = openApprovalsTransport(config, log, starting);
  const audit = await openAudit(config.REEVE_AUDIT, { nats, background, log }, starting);
  const receiptKeys = openReceiptKeys(config, log, starting);
  const { recordAct } = audit;
  const opening = { nats, gateway: ports, directory: credentials.directory, recordAct, log };
  const triggers = await openTriggers(config, opening, background.signal);
  const apiSite = await openA2a(config, { ...opening, background, resources: starting });
  const { known } = credentials;
  const parts = { ports, nats, approvals, log, audit, receiptKeys, triggers, credentials: known };
  const services = await gatewayServices(config, parts, ending);
  const check = refuseDeletedTenants(
    authenticate(credentials.tokens, credentials.certificates),
    nats,
  );
  const server = starting.use(
    await serve(
      (router) => services.forEach(({ register }) => register(router)),
      {
        ...config.REEVE_LISTEN,
        log,
        services: services.map(({ service }) => service),
        plainRoutes,
        documents: plainDocuments,
        apiSite,
        site: firstSite([
          // A deployment that requires certificates of all clients has no webhooks of senders without one.
          ...(config.REEVE_TLS_CLIENT_REQUIRED ? [] : [hookSite(webhooks(triggers), log, ending)]),
          ...(config.REEVE_CONSOLE ? [consoleSite(config.REEVE_CONSOLE_DIR, signIn, log)] : []),
        ]),
        authenticate: audit.audited(
          config.REEVE_SIGN_IN_LIMIT === "on" ? limitSignIns(check, steadyClock) : check,
        ),
        // Outside of the quotas: what these refuse is recorded too.
        interceptors: [...audit.interceptors, limitRequests(quotas, steadyClock)],
        listener,
        limits: limitsOf(config),
        ready: () => connectionStateOf(nats.connection).isUp,
      },
      signal,
    ),
  );
  // Disposed before the server: its streams end as DRAINING, not as streams that their clients left.
  starting.defer(() => end.abort());
  startBackground(background, ports, { nats, log, isOnlyGateway });
  background.run((until) => fireTriggers(triggers, systemClock, log, until));
  background.run((until) => watchStoredAgents(ports, log, until));
  background.run((until) => sweepCollections(nats, systemClock, until));
  background.run((until) => sweepSkills(ports, systemClock, until));
  keepRoom(background, config, { ports, nats, log, audit });
  log.info({ url: server.url }, "gateway listens");
  const resources = starting.move();
  return {
    url: server.url,
    port: server.port,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

interface KeepRoomDependencies extends GatewayDependencies {
  readonly ports: GatewayPorts;
  readonly audit: Pick<Audit, "recordAct">;
}

/** Keeps the reserve of the store, and deletes the runs that the settings do not keep. */
function keepRoom(
  background: Background,
  config: GatewayConfig,
  { ports, nats, log, audit }: KeepRoomDependencies,
): void {
  const reserve = { bytes: config.REEVE_STORE_RESERVE_BYTES, clock: steadyClock, log };
  if (reserve.bytes > 0) background.run((signal) => keepReserve(nats, reserve, signal));
  const { REEVE_RETAIN_DAYS: days, REEVE_RETAIN_RUNS: maxRuns } = config;
  archiveOldRuns(background, config, { ports, nats, log });
  if (days === undefined && maxRuns === undefined) return;
  const policy = { maxAgeMs: days && days * dayMs, maxRuns };
  background.run(async (signal) => {
    const states = await openTable(nats, ProjectionSchema);
    const process = randomUUID();
    const { recordAct } = audit;
    const retain = { ...ports, states, recordAct };
    await retainRuns(retain, policy, { process, clock: systemClock, log }, signal);
  });
}

/** Moves the logs of old runs to the archive, and erases what archivers that died have left. */
function archiveOldRuns(
  background: Background,
  { REEVE_ARCHIVE_DAYS: days }: GatewayConfig,
  { ports, nats, log }: Pick<KeepRoomDependencies, "ports" | "nats" | "log">,
): void {
  if (days === undefined) return;
  background.run(async (signal) => {
    const archiver = await openArchiver(nats);
    const states = await openTable(nats, ProjectionSchema);
    const eraseLost = (until: AbortSignal) => eraseOrphans(nats, until);
    const archiving = { runs: ports.runs, states, archiver, eraseOrphans: eraseLost };
    const process = randomUUID();
    await archiveRuns(archiving, days * dayMs, { process, clock: systemClock, log }, signal);
  });
}

function startBackground(
  background: Background,
  ports: GatewayPorts,
  { nats, log, isOnlyGateway }: GatewayDependencies,
): void {
  const { presence } = ports;
  const sweeping = { ...ports, shards: presence };
  background.run((signal) => repairThreads(sweeping, systemClock, log, signal));
  background.run(async (signal) => {
    // Somebody may delete the bucket: this work then throws, and begins again.
    await bucketInstance(nats, SweeperPresenceSchema, signal);
    await presence.share(signal);
  });
  const deadlines: Deadlines = {
    now: systemClock.now,
    expire: async (key, nowMs, signal) => {
      const head = await expireCalls(ports, key, nowMs, signal);
      await wakeRun(ports, key, head, { nowMs, signal });
    },
  };
  background.run((signal) => sweepRuns({ ...sweeping, deadlines }, systemClock, log, signal));
  const feed = { log, ...(isOnlyGateway !== true && { turns: presence }) };
  background.run(async (signal) =>
    indexRuns(await openPositionedRunFeed(nats, feed), ports, log, signal),
  );
  background.run(async (signal) => {
    const { threads, threadIndex: index } = ports;
    await indexThreads({ feed: await openThreadFeed(nats), threads, index }, log, signal);
  });
  keepProjections(background, ports, nats, log);
}

/** Rebuilds the indexes of runs and threads when their buckets were replaced, on request, and every few hours. */
function keepProjections(
  background: Background,
  ports: GatewayPorts,
  nats: Nats,
  log: Logger,
): void {
  background.run(async (signal) => {
    const runs: ProjectionOverNats<RunKey> = {
      schema: RunSchema,
      catalog: await openRunCatalog(nats),
      compare: (...run) => compareRun(ports, ...run),
      dropOrphans: (mode, until) => dropOrphans(deletedRuns(ports, log, mode), until),
    };
    await keepProjectionOverNats(nats, runs, log, signal);
  });
  background.run(async (signal) => {
    const { threads, threadIndex: index } = ports;
    const projection: ProjectionOverNats<ThreadKey> = {
      schema: ThreadSchema,
      catalog: await openThreadCatalog(nats),
      compare: (...thread) => compareThread({ threads, index }, ...thread),
    };
    await keepProjectionOverNats(nats, projection, log, signal);
  });
}
