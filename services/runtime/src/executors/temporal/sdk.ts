import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { CarriedRun, RunActivities, RunDispatch } from "./contract.ts";
import { workflowVersion } from "./contract.ts";

/** How to reach Temporal. */
export interface TemporalConnectionOptions {
  readonly address: string;
  readonly tls: TlsOptions | boolean;
  readonly apiKey?: string;
}

export interface TlsOptions {
  readonly serverRootCACertificate?: Buffer;
  readonly clientCertPair?: { readonly crt: Buffer; readonly key: Buffer };
}

export interface TemporalConnection {
  close(): Promise<void>;
}

/** An activity of a workflow that has not ended. */
export interface PendingActivity {
  readonly activityId?: string | null;
  readonly state?: number | null;
  readonly lastWorkerIdentity?: string | null;
}

/** Requests to the frontend of Temporal that its client does not wrap. */
export interface WorkflowService {
  describeWorkflowExecution(request: object): Promise<{
    readonly workflowExecutionInfo?: {
      readonly execution?: { readonly runId?: string | null } | null;
    } | null;
    readonly pendingActivities?: readonly PendingActivity[] | null;
  }>;
  respondActivityTaskFailedById(request: object): Promise<unknown>;
}

/** The part of a client of workflows that a runtime uses. */
export interface TemporalClient {
  readonly workflowService: WorkflowService;
  readonly workflow: {
    /** Sends a signal to a workflow, which it starts if it does not run. Both happen, or nothing does. */
    signalWithStart(
      workflowType: string,
      options: {
        readonly workflowId: string;
        readonly taskQueue: string;
        readonly args: readonly [CarriedRun, { readonly heartbeatTimeoutMs: number }];
        readonly signal: string;
        readonly signalArgs: readonly [RunDispatch];
        readonly memo: Readonly<Record<string, string>>;
      },
    ): Promise<unknown>;
  };
  /** Calls `request`, whose requests fail when they are not answered until `deadlineMs`, a time since the epoch. */
  withDeadline<Result>(deadlineMs: number, request: () => Promise<Result>): Promise<Result>;
}

/** Takes tasks of workflows and activities. */
export interface TemporalWorker {
  /** Resolves when the worker has shut down, and its activities have ended. */
  run(): Promise<void>;
  /** Takes no more tasks. */
  shutdown(): void;
  getState(): string;
}

export interface TemporalLogger {
  log(level: string, message: string, fields?: object): void;
  trace(message: string, fields?: object): void;
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

/** The activity in which a function is called. */
export interface ActivityContext {
  readonly info: { readonly attempt: number };
  /** Aborts when the activity is cancelled, or its worker waits no longer for it. */
  readonly cancellationSignal: AbortSignal;
  heartbeat(): void;
}

/** What a runtime uses of the packages of Temporal, as they are installed outside of this workspace. */
export interface TemporalSdk {
  readonly worker: {
    readonly Runtime: { install(options: object): unknown };
    readonly NativeConnection: {
      connect(options: TemporalConnectionOptions): Promise<TemporalConnection>;
    };
    readonly Worker: {
      create(
        options: {
          readonly connection: TemporalConnection;
          readonly activities: RunActivities;
        } & Readonly<Record<string, unknown>>,
      ): Promise<TemporalWorker>;
    };
  };
  readonly client: {
    readonly Client: new (options: {
      readonly connection: TemporalConnection;
      readonly namespace: string;
    }) => TemporalClient;
  };
  readonly activity: { readonly Context: { current(): ActivityContext } };
  /** The file with the code of the workflow. */
  readonly workflowBundle: string;
}

const howToInstall =
  "run `node services/runtime/temporal/install.mjs FOLDER`, and set REEVE_TEMPORAL_SDK=FOLDER";

/**
 * Loads the packages of Temporal from a folder. They are not part of this program, because few deployments need them. Throws a
 * Failure of kind `invalid` if they are missing, or have another version of the workflow than this program.
 */
export function loadTemporalSdk(folder: string | undefined): TemporalSdk {
  if (folder === undefined || !existsSync(folder)) {
    const where = folder === undefined ? "REEVE_TEMPORAL_SDK is not set" : `${folder} is missing`;
    throw notInstalled(`the executor temporal needs the packages of Temporal, and ${where}`);
  }
  const manifest = join(resolve(folder), "package.json");
  const version = versionIn(manifest);
  if (version?.split(".")[0] !== String(workflowVersion)) {
    throw notInstalled(
      `${folder} has version ${version ?? "unknown"} of the workflow, and this runtime needs version ${workflowVersion}`,
    );
  }
  const load = createRequire(manifest);
  try {
    return {
      // The packages are loaded from elsewhere, so that nothing but the interface above describes them here.
      worker: load("@temporalio/worker") as TemporalSdk["worker"],
      client: load("@temporalio/client") as TemporalSdk["client"],
      activity: load("@temporalio/activity") as TemporalSdk["activity"],
      workflowBundle: join(resolve(folder), "workflow-bundle.js"),
    };
  } catch (cause) {
    throw notInstalled(`the packages of Temporal in ${folder} cannot be loaded`, cause);
  }
}

function versionIn(manifest: string): string | undefined {
  try {
    const { version }: { version?: unknown } = JSON.parse(readFileSync(manifest, "utf8"));
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}

function notInstalled(problem: string, cause?: unknown): Failure {
  const message = `${problem}; ${howToInstall}`;
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { cause });
}
