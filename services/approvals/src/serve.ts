import {
  ApprovalSchema,
  ApprovalService,
  GrantSchema,
  WatchedGroupSchema,
} from "@reeve/contracts/approval";
import { bucketOf } from "@reeve/contracts/channel";
import { passkeySiteOf } from "@reeve/agent/deciders/passkey-site";
import { NotificationService } from "@reeve/contracts/notification";
import { QueueHolderSchema } from "@reeve/contracts/queue";
import {
  PersonCeremoniesSchema,
  PasskeyService,
  PersonPasskeysSchema,
} from "@reeve/contracts/passkey";
import { openAuditTrail } from "@reeve/jetstream/audit/nats";
import type { AuditMode } from "@reeve/jetstream/audit/recorder";
import { AuditRecorder } from "@reeve/jetstream/audit/recorder";
import type { RecordAct } from "@reeve/jetstream/audit/system-acts";
import { recordActs, unrecorded } from "@reeve/jetstream/audit/system-acts";
import { openDispatchQueue } from "@reeve/jetstream/queue/dispatch";
import { openPositionedRunFeed } from "@reeve/jetstream/feed/positioned/nats";
import { askedExistence } from "@reeve/run/existence/asked-existence";
import { confirmedEnds } from "@reeve/run/existence/confirmed-ends";
import { openRunLog } from "@reeve/jetstream/log/open";
import { withAppendObserver } from "@reeve/jetstream/log/with-append-observer";
import type { RunKey } from "@reeve/jetstream/log/run-log";
import type { ProjectionOverNats } from "@reeve/jetstream/projection/keep-projection-over-nats";
import { keepProjectionOverNats } from "@reeve/jetstream/projection/keep-projection-over-nats";
import { dropOrphans } from "@reeve/jetstream/projection/drop-orphans";
import { openRunCatalog } from "@reeve/jetstream/projection/nats-catalog";
import { untilReserveIsKnown, watchReserve } from "@reeve/jetstream/reserve/watch-reserve";
import { abortable } from "@reeve/platform/async/abortable";
import { Background } from "@reeve/platform/async/background";
import type { Environment } from "@reeve/platform/config";
import { authenticateInternally } from "@reeve/platform/rpc/internal-principal";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import type { Listener } from "@reeve/platform/rpc/listener";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { limitsOf } from "@reeve/platform/process/settings";
import type { RunningServer } from "@reeve/platform/rpc/server";
import { serve } from "@reeve/platform/rpc/server";
import { untilAborted } from "@reeve/platform/async/sleep";
import { systemClock } from "@reeve/platform/async/clock";
import { indexFolderOf, openSealing } from "@reeve/jetstream/sealing/open-sealing";
import { LaterTable } from "@reeve/jetstream/table/later-table";
import { openTable } from "@reeve/jetstream/table/nats";
import { measureWaits, reportBreakGlass } from "./app/approval-metrics.ts";
import type { ApprovalPorts } from "./app/approval-ports.ts";
import { escalateApprovals } from "./app/escalate-approvals.ts";
import { expireApprovals } from "./app/expire-approvals.ts";
import { WatchedGroups } from "./app/groups/watched-groups.ts";
import { applyGrants } from "./app/grants/apply-grants.ts";
import type { ApprovalsConfig } from "./config.ts";
import { openApprovalLists } from "./app/approval-lists.ts";
import { openOnce } from "./notify/notification-stores.ts";
import { runNotifications } from "./notify/run-notifications.ts";
import { readFiles } from "./read-files.ts";
import { passkeyService } from "./rpc/passkey-service.ts";
import { linkTo } from "./notify/formats/describe.ts";
import { approvalsOfLogs, compareApprovals, projectInbox } from "./projections/project-inbox.ts";
import { approvalService } from "./rpc/approval-service.ts";
import { notificationService } from "./rpc/notification-service.ts";

interface ApprovalsDependencies {
  readonly nats: Nats;
  readonly log: Logger;
  /** The open port of the process. Default: approvals opens REEVE_APPROVALS_LISTEN. */
  readonly listener?: Listener;
  /** The environment of the process, for secrets of receivers that are in variables. Default: it is empty. */
  readonly environment?: Environment;
}

/** Starts approvals: it maintains the inbox, accepts decisions, and expires approvals, until it is disposed. */
export async function startApprovals(
  config: ApprovalsConfig,
  { nats, log, listener, environment = {} }: ApprovalsDependencies,
  signal: AbortSignal,
): Promise<RunningServer> {
  await using starting = new AsyncDisposableStack();
  const { notifications, policy } = await readFiles(config, {
    environment,
    log,
    resources: starting,
  });
  const { REEVE_PUBLIC_URL: publicUrl } = config;
  const site = passkeySiteOf(publicUrl);
  await openSealing(nats, config, { mayCreate: true, log });
  const watchedGroups = new LaterTable(bucketOf(WatchedGroupSchema).name, () =>
    openTable(nats, WatchedGroupSchema),
  );
  // Disposed after the background work, which ends its writes.
  const groups = starting.use(new WatchedGroups(watchedGroups, { clock: systemClock, log }));
  const background = starting.use(new Background(log, signal));
  const inbox = await openTable(nats, ApprovalSchema);
  const home = { folder: indexFolderOf(config), log };
  const lists = openApprovalLists(inbox, home, background.signal);
  lists.start();
  // A run that waits for a decision has several batches.
  const runLog = await openRunLog(nats, { readsAhead: true });
  // People decide without it, for example while NATS has the users of a version without grants.
  const grants = new LaterTable(bucketOf(GrantSchema).name, () => openTable(nats, GrantSchema));
  const reportGlass = reportBreakGlass(log);
  const ports: ApprovalPorts = {
    log: withAppendObserver(runLog, (events) => {
      measureWaits(events);
      reportGlass(events);
    }),
    logEnds: confirmedEnds(runLog, askedExistence(nats, { maxRetryMs: 0 })),
    dispatch: await openDispatchQueue(nats, { ackWaitMs: config.REEVE_ACK_WAIT_MS }),
    inbox,
    grants,
    lists,
    recordAct: openRecordAct(config.REEVE_AUDIT, { nats, background, log }),
    clock: systemClock,
    times: () => policy()?.approvals,
    inboxUrl: publicUrl === undefined ? undefined : (id) => linkTo(publicUrl, id),
    // Like grants, they may come later than the version that has them.
    passkeys: new LaterTable(bucketOf(PersonPasskeysSchema).name, () =>
      openTable(nats, PersonPasskeysSchema),
    ),
    ceremonies: new LaterTable(bucketOf(PersonCeremoniesSchema).name, () =>
      openTable(nats, PersonCeremoniesSchema),
    ),
    site,
    groups,
    holders: new LaterTable(bucketOf(QueueHolderSchema).name, () =>
      openTable(nats, QueueHolderSchema),
    ),
  };
  const openStores =
    notifications && openOnce(nats, notifications.settings, config.REEVE_ACK_WAIT_MS);
  const server = starting.use(
    await serve(
      (router) =>
        router
          .service(ApprovalService, approvalService(ports))
          .service(PasskeyService, passkeyService(ports))
          .service(
            NotificationService,
            notificationService({ open: openStores, clock: systemClock }),
          ),
      {
        ...config.REEVE_APPROVALS_LISTEN,
        log,
        services: [ApprovalService, NotificationService, PasskeyService],
        authenticate: authenticateInternally(config.REEVE_INTERNAL_TOKEN),
        listener,
        limits: limitsOf(config),
        ready: () => connectionStateOf(nats.connection).isUp,
      },
      signal,
    ),
  );
  background.run((until) => watchReserve(nats, { log }, until));
  background.run(async (until) =>
    projectInbox(await openPositionedRunFeed(nats, { log }), ports, log, until),
  );
  background.run((until) => expireApprovals(ports, log, until));
  background.run((until) => escalateApprovals(ports, log, until));
  background.run(async (until) => {
    await watchedGroups.opened(until);
    await groups.follow(until);
    await untilAborted(until);
  });
  background.run(async (until) => {
    await grants.opened(until);
    await applyGrants(ports, log, until);
  });
  background.run(async (until) => {
    const projection: ProjectionOverNats<RunKey> = {
      schema: ApprovalSchema,
      catalog: await openRunCatalog(nats),
      compare: (...run) => compareApprovals(ports, ...run),
      dropOrphans: async (mode, during) =>
        mode === "quick"
          ? { dropped: 0, failed: 0 }
          : await dropOrphans(approvalsOfLogs(ports), during),
    };
    await keepProjectionOverNats(nats, projection, log, until);
  });
  if (notifications !== undefined && openStores !== undefined) {
    background.run(async (until) => {
      const stores = await abortable(openStores(), until);
      // What waited for room before this process started must not use up the reserve.
      await untilReserveIsKnown(nats, until);
      await runNotifications(
        notifications,
        { nats, stores, runLog, log, times: ports.times },
        until,
      );
    });
  }
  log.info({ url: server.url }, "approvals listens");
  const resources = starting.move();
  return {
    url: server.url,
    port: server.port,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Returns what records the acts of approvals, in the trail that it opens in the background. */
function openRecordAct(
  mode: AuditMode | "off",
  { nats, background, log }: ApprovalsDependencies & { readonly background: Background },
): RecordAct {
  if (mode === "off") return unrecorded;
  const recorder = new AuditRecorder({ mode, clock: systemClock, log });
  background.run((signal) => recorder.keep(() => abortable(openAuditTrail(nats), signal), signal));
  return recordActs(recorder, systemClock);
}
