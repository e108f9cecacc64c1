import { randomBytes } from "node:crypto";
import { abortable } from "@reeve/platform/async/abortable";
import { Failure } from "@reeve/platform/failure";
import type {
  ProbeReport,
  SandboxDriver,
  SandboxSession,
  SessionRecord,
  SessionSpec,
} from "../port.ts";
import { AgentSession } from "../agent/agent-session.ts";
import { callLimits, environment } from "../agent/call-limits.ts";
import { passes, probeSession } from "../agent/probe-session.ts";
import { ClaimedSessions, hasClaims } from "./claimed-sessions.ts";
import type { Cluster } from "./cluster.ts";
import { missingRights } from "./missing-rights.ts";
import type { ClusterOptions } from "./open-cluster.ts";
import { openCluster } from "./open-cluster.ts";
import { PodSessions } from "./pod-sessions.ts";
import { OwnerLease, leaseRights } from "./owner-lease.ts";
import type { SessionSource } from "./session-source.ts";
import { startSession } from "./start.ts";

const python = "/usr/bin/python3";
/** Time for finding a node and pulling an image. */
const defaultStartTimeoutMs = 60_000;
/** A world-writable file that the kubelet mounts into every container. */
const terminationLog = "/dev/termination-log";
/** How long a running pod may take to answer a probe. */
const answerMs = 15_000;
/** RuntimeClass that is tried first by default. By convention, it is gVisor. */
const gvisor = "gvisor";

export interface KubernetesOptions extends ClusterOptions {
  /** Image of sandboxes, with a version: `latest` may differ between nodes. */
  readonly image: string;
  /** The only RuntimeClass to use. Undefined: `gvisor` if it exists and works, else the default of the nodes. */
  readonly runtimeClass: string | undefined;
  /**
   * The SandboxWarmPool of agent-sandbox from which pods are claimed. Undefined, or without agent-sandbox: the driver creates
   * a pod for each session.
   */
  readonly warmPool: string | undefined;
  /** How long a pod may take to start, in milliseconds. Default: a minute. */
  readonly startTimeoutMs?: number;
}

/** Starts each session as a pod in the cluster of the toolhost. A workspace exists as long as its pod. */
export class KubernetesDriver implements SandboxDriver {
  readonly name = "kubernetes";
  readonly keepsWorkspace = "session";
  readonly #options: KubernetesOptions;
  readonly #owner = `reeve-toolhost-${randomBytes(6).toString("hex")}`;
  /** Ids of our own sessions, from before they start until their pods are released. */
  readonly #open = new Set<string>();
  #cluster: Promise<Cluster> | undefined;
  #lease: OwnerLease | undefined;
  #source: SessionSource | undefined;

  constructor(options: KubernetesOptions) {
    this.#options = options;
  }

  async probe(signal: AbortSignal): Promise<ProbeReport> {
    const { warmPool } = this.#options;
    try {
      const cluster = await this.#connect();
      await cluster.ping(signal);
      if (warmPool === undefined) return await this.#probePods(cluster, [], signal);
      if (await hasClaims(cluster, signal)) {
        return await this.#probeSource(this.#claims(cluster, warmPool), signal);
      }
      const note = "the cluster has no agent-sandbox v1beta1, so each session starts a pod";
      return await this.#probePods(cluster, [note], signal);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { works: false, reason: error.message, fixes: [], isTransient: passes(error) };
    }
  }

  async open(spec: SessionSpec, signal: AbortSignal): Promise<SandboxSession> {
    const cluster = await this.#connect();
    const source = (this.#source ??= this.#pods(cluster, this.#options.runtimeClass));
    const lease = (this.#lease ??= new OwnerLease(cluster, this.#owner));
    const sessionId = `reeve-sandbox-${randomBytes(8).toString("hex")}`;
    this.#open.add(sessionId);
    const onGone = () => void this.#open.delete(sessionId);
    let controller;
    try {
      controller = await lease.acquire(signal);
    } catch (error) {
      onGone();
      throw error;
    }
    const channel = await startSession(
      {
        cluster,
        source,
        sessionId,
        spec,
        controller,
        onGone,
        startTimeoutMs: this.#options.startTimeoutMs ?? defaultStartTimeoutMs,
      },
      signal,
    );
    const isCounted = { memory: true, processes: source.hasOwnUser };
    return new AgentSession({
      sessionId,
      channel,
      scratchPaths: ["/tmp", "/dev/shm", "/dev/mqueue", terminationLog],
      settingsFor: (limits) => ({
        folder: "/workspace",
        env: environment,
        limits: callLimits(limits, isCounted),
      }),
      // The kubelet measures the disk, and ends the pod.
      watchDiskLimit: async (_, until) => (await causeUntil(channel.cause, until)) === "disk",
    });
  }

  async list(signal: AbortSignal): Promise<readonly SessionRecord[]> {
    const cluster = await this.#connect();
    const source = (this.#source ??= this.#pods(cluster, this.#options.runtimeClass));
    const lease = (this.#lease ??= new OwnerLease(cluster, this.#owner));
    const sessions = await source.list(signal);
    const gone = await lease.goneOwners(new Set(sessions.map(({ owner }) => owner)), signal);
    return sessions.map(({ sessionId, owner, isOver }) => {
      const isOwn = this.#open.has(sessionId);
      // A session of ours that is not tracked any more could not be released when it ended.
      const isLost = owner === this.#owner || isOver || gone.has(owner);
      return { sessionId, isOrphan: !isOwn && isLost };
    });
  }

  async destroy(sessionId: string, signal: AbortSignal): Promise<void> {
    const cluster = await this.#connect();
    await (this.#source ?? this.#pods(cluster, undefined)).release(sessionId, signal);
  }

  /** Probes pods of our own, with each candidate RuntimeClass. */
  async #probePods(
    cluster: Cluster,
    notes: readonly string[],
    signal: AbortSignal,
  ): Promise<ProbeReport> {
    const { image, runtimeClass: named } = this.#options;
    if (!hasVersion(image)) {
      const reason = `the image ${image} has no version, or the version latest`;
      return {
        works: false,
        reason,
        fixes: ["set REEVE_SANDBOX_IMAGE to an image with a version"],
      };
    }
    const failures: string[] = [];
    for (const runtimeClass of candidates(named)) {
      const report = await this.#probeSource(this.#pods(cluster, runtimeClass), signal);
      if (report.works) return { ...report, notes: [...notes, ...failures] };
      if (runtimeClass !== gvisor || named !== undefined) return report;
      // A cluster without gVisor deserves no warning.
      if (!/RuntimeClass .*not found/.test(report.reason)) {
        failures.push(`with ${runtimeClass}: ${report.reason}`);
      }
    }
    return { works: false, reason: [...notes, ...failures].join("; "), fixes: [] };
  }

  async #probeSource(source: SessionSource, signal: AbortSignal): Promise<ProbeReport> {
    const cluster = await this.#connect();
    const rights = [...source.rights, ...leaseRights];
    const missing = await missingRights(cluster, rights, signal);
    if (missing.length > 0) {
      const reason = `the service account lacks rights in namespace ${cluster.namespace}: ${missing.join(", ")}`;
      return { works: false, reason, fixes: ["apply deploy/k8s/components/sandbox"] };
    }
    this.#source = source;
    const timeoutMs = (this.#options.startTimeoutMs ?? defaultStartTimeoutMs) + answerMs;
    const probed = await probeSession(this, python, "", signal, timeoutMs);
    if ("problem" in probed) {
      const { problem: reason, isTransient } = probed;
      return { works: false, reason, fixes: [], isTransient };
    }
    return { works: true, isolates: true, bounds: { memory: true, processes: source.hasOwnUser } };
  }

  #pods(cluster: Cluster, runtimeClass: string | undefined): SessionSource {
    const { image } = this.#options;
    return new PodSessions(cluster, { owner: this.#owner, image, runtimeClass });
  }

  #claims(cluster: Cluster, pool: string): SessionSource {
    return new ClaimedSessions(cluster, { owner: this.#owner, pool });
  }

  async #connect(): Promise<Cluster> {
    this.#cluster ??= openCluster(this.#options);
    try {
      return await this.#cluster;
    } catch (error) {
      this.#cluster = undefined;
      throw error;
    }
  }
}

function candidates(named: string | undefined): readonly (string | undefined)[] {
  return named === undefined ? [gvisor, undefined] : [named];
}

function hasVersion(image: string): boolean {
  return /(?:@sha256:[0-9a-f]{64}|:(?!latest$)[\w][\w.-]*)$/.test(image);
}

async function causeUntil(
  cause: Promise<string>,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return await abortable(cause, signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}
