import { randomBytes } from "node:crypto";
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
import { probeSession } from "../agent/probe-session.ts";
import { ClaimedSessions, hasClaims } from "./claimed-sessions.ts";
import type { Cluster } from "./cluster.ts";
import { missingRights } from "./missing-rights.ts";
import type { ClusterOptions } from "./open-cluster.ts";
import { openCluster } from "./open-cluster.ts";
import { PodSessions } from "./pod-sessions.ts";
import { OwnerLease, leaseRights } from "./owner-lease.ts";
import type { SessionSource } from "./session-source.ts";
import { beginMs, startSession } from "./start.ts";

const python = "/usr/bin/python3";
/** A file that a kubelet puts into every container, for all to write. */
const lastWords = "/dev/termination-log";
/** How long a pod that runs may take to answer a probe. */
const answerMs = 15_000;
/** What is tried first where nothing is named: a class of this name is, by custom, gVisor's. */
const gvisor = "gvisor";

export interface KubernetesOptions extends ClusterOptions {
  /** By its version: what `latest` is differs from node to node. */
  readonly image: string;
  /** The only RuntimeClass that will do. Absent: `gvisor` where there is one and it works, else that of the nodes. */
  readonly runtimeClass: string | undefined;
  /** The SandboxWarmPool of agent-sandbox whose pods are claimed. Absent, or without agent-sandbox: a pod is made for each session. */
  readonly warmPool: string | undefined;
  /** How long a pod may take to run, in milliseconds. Absent: a minute. */
  readonly beginMs?: number;
}

/** Pods as sandboxes, one for each session, of the cluster in which the toolhost runs. A workspace lives with its pod. */
export class KubernetesDriver implements SandboxDriver {
  readonly name = "kubernetes";
  readonly keepsWorkspace = "session";
  readonly #options: KubernetesOptions;
  readonly #owner = `reeve-toolhost-${randomBytes(6).toString("hex")}`;
  /** Our own, from before they are made until they are given back. */
  readonly #open = new Set<string>();
  #cluster: Promise<Cluster> | undefined;
  #presence: OwnerLease | undefined;
  #source: SessionSource | undefined;

  constructor(options: KubernetesOptions) {
    this.#options = options;
  }

  async probe(signal: AbortSignal): Promise<ProbeReport> {
    const { image, warmPool } = this.#options;
    try {
      const cluster = await this.#connected();
      await cluster.ping(signal);
      const notes: string[] = [];
      if (warmPool !== undefined) {
        if (await hasClaims(cluster, signal)) {
          return await this.#tried(this.#claims(cluster, warmPool), signal);
        }
        notes.push("there is no agent-sandbox v1beta1, so that each session starts a pod");
      }
      if (isUnnamed(image)) {
        const reason = `the image ${image} is named without a version, or as latest`;
        return { works: false, reason, fixes: ["let REEVE_SANDBOX_IMAGE name a version"] };
      }
      for (const runtimeClass of candidates(this.#options.runtimeClass)) {
        const report = await this.#tried(this.#pods(cluster, runtimeClass), signal);
        if (report.works) return { ...report, notes };
        if (runtimeClass !== gvisor || this.#options.runtimeClass !== undefined) return report;
        // A cluster without gVisor is nothing to be warned of.
        if (!/RuntimeClass .*not found/.test(report.reason)) {
          notes.push(`with ${runtimeClass}: ${report.reason}`);
        }
      }
      return { works: false, reason: notes.join("; "), fixes: [] };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return { works: false, reason: error.message, fixes: [] };
    }
  }

  async open(spec: SessionSpec, signal: AbortSignal): Promise<SandboxSession> {
    const cluster = await this.#connected();
    const source = (this.#source ??= this.#pods(cluster, this.#options.runtimeClass));
    const presence = (this.#presence ??= new OwnerLease(cluster, this.#owner));
    const sessionId = `reeve-sandbox-${randomBytes(8).toString("hex")}`;
    this.#open.add(sessionId);
    const onGone = () => void this.#open.delete(sessionId);
    try {
      await presence.acquire(signal);
    } catch (error) {
      onGone();
      throw error;
    }
    const channel = await startSession(
      { cluster, source, sessionId, spec, onGone, beginMs: this.#options.beginMs },
      signal,
    );
    const isCounted = { memory: true, processes: source.hasOwnUser };
    return new AgentSession({
      sessionId,
      channel,
      scratchPaths: ["/tmp", "/dev/shm", "/dev/mqueue", lastWords],
      settingsFor: (limits) => ({
        folder: "/workspace",
        env: environment,
        limits: callLimits(limits, isCounted),
      }),
      // The kubelet measures, and ends the pod.
      watchDiskLimit: async (_, until) => (await causeUntil(channel.cause, until)) === "disk",
    });
  }

  async list(signal: AbortSignal): Promise<readonly SessionRecord[]> {
    const cluster = await this.#connected();
    const source = (this.#source ??= this.#pods(cluster, this.#options.runtimeClass));
    const presence = (this.#presence ??= new OwnerLease(cluster, this.#owner));
    const holdings = await source.list(signal);
    const gone = await presence.goneOwners(new Set(holdings.map(({ owner }) => owner)), signal);
    return holdings.map(({ sessionId, owner, isOver }) => {
      const isOwn = this.#open.has(sessionId);
      // One of ours that we know nothing of any more could not be given back in its time.
      const isLost = owner === this.#owner || isOver || gone.has(owner);
      return { sessionId, isOrphan: !isOwn && isLost };
    });
  }

  async destroy(sessionId: string, signal: AbortSignal): Promise<void> {
    const cluster = await this.#connected();
    await (this.#source ?? this.#pods(cluster, undefined)).release(sessionId, signal);
  }

  async #tried(source: SessionSource, signal: AbortSignal): Promise<ProbeReport> {
    const cluster = await this.#connected();
    const rights = [...source.rights, ...leaseRights];
    const missing = await missingRights(cluster, rights, signal);
    if (missing.length > 0) {
      const reason = `the service account may not, in namespace ${cluster.namespace}: ${missing.join(", ")}`;
      return { works: false, reason, fixes: ["grant it deploy/k8s/components/sandbox"] };
    }
    this.#source = source;
    const withinMs = (this.#options.beginMs ?? beginMs) + answerMs;
    const probed = await probeSession(this, python, "", signal, withinMs);
    if ("problem" in probed) return { works: false, reason: probed.problem, fixes: [] };
    return { works: true, isolates: true, bounds: { memory: true, processes: source.hasOwnUser } };
  }

  #pods(cluster: Cluster, runtimeClass: string | undefined): SessionSource {
    const { image } = this.#options;
    return new PodSessions(cluster, { owner: this.#owner, image, runtimeClass });
  }

  #claims(cluster: Cluster, pool: string): SessionSource {
    return new ClaimedSessions(cluster, { owner: this.#owner, pool });
  }

  async #connected(): Promise<Cluster> {
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

function isUnnamed(image: string): boolean {
  return !/(?:@sha256:[0-9a-f]{64}|:(?!latest$)[\w][\w.-]*)$/.test(image);
}

async function causeUntil(
  cause: Promise<string>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  signal.addEventListener("abort", () => resolve(undefined), { once: true });
  return await Promise.race([cause, promise]);
}
