import { randomBytes } from "node:crypto";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type {
  Bounds,
  ProbeReport,
  SandboxDriver,
  SandboxSession,
  SessionRecord,
  SessionSpec,
} from "../port.ts";
import type { AgentChannel } from "../agent/agent-channel.ts";
import { agentArguments } from "../agent/agent-program.ts";
import { AgentSession } from "../agent/agent-session.ts";
import { callLimits, environment } from "../agent/call-limits.ts";
import { probeSession } from "../agent/probe-session.ts";
import { isOwnerGone, ownerName } from "../host/owner.ts";
import { bwrapArguments } from "./spec.ts";
import type { BwrapProcess } from "./start.ts";
import { spawnerOf } from "./spawner.ts";
import { startBwrap } from "./start.ts";
import type { ControlGroup } from "./control-groups.ts";
import { controlGroups } from "./control-groups.ts";
import { findPrograms } from "./find-programs.ts";
import type { Identity } from "../host/identity.ts";
import { systemView } from "../host/system-view.ts";
import { makeSkillsMountPoint } from "../host/skills-mount.ts";
import { watchDiskLimit } from "../host/watch-disk-limit.ts";

const namespaceFixes = [
  "permit user namespaces: sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000",
  "on Ubuntu 24.04 and later: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or add an AppArmor profile for bwrap",
  "in a container: use a seccomp profile that permits user namespaces",
];

/** Starts sandboxes in Linux namespaces with bubblewrap. They end with their toolhost, however it ends. */
export class BubblewrapDriver implements SandboxDriver {
  readonly name = "bubblewrap";
  readonly #identity: Identity;
  readonly #groups = controlGroups();
  /** Ids of our own sandboxes, from before they start until they are gone. */
  readonly #names = new Set<string>();
  readonly #open = new Map<string, AgentChannel>();
  #bytecode: string | undefined;

  constructor(identity: Identity) {
    this.#identity = identity;
  }

  async probe(signal: AbortSignal): Promise<ProbeReport> {
    const programs = findPrograms();
    if ("reason" in programs) return programs;
    const probed = await probeSession(this, programs.python, "/usr/share", signal);
    if ("problem" in probed) return { works: false, reason: probed.problem, fixes: namespaceFixes };
    this.#bytecode = probed.agent;
    return { works: true, isolates: true, bounds: this.#bounds() };
  }

  async open(spec: SessionSpec, signal: AbortSignal): Promise<SandboxSession> {
    signal.throwIfAborted();
    const programs = findPrograms();
    if ("reason" in programs) {
      throw new Failure("unavailable", ErrorReason.UNAVAILABLE, programs.reason);
    }
    const { bwrap, python, seccomp } = programs;
    const skillsMountPoint =
      spec.skillsDir && makeSkillsMountPoint(spec.workspaceDir, this.#identity);
    const sessionId = `${ownerName() ?? "0.0"}-${randomBytes(6).toString("hex")}`;
    const agent = agentArguments(python, this.#bytecode);
    const args = bwrapArguments({ ...spec, agent, system: systemView() });
    const spawner = await spawnerOf(python);
    this.#names.add(sessionId);
    const channel = await this.#start(sessionId, spec, () =>
      startBwrap(bwrap, args, this.#identity, { seccomp, spawner }),
    );

    return new AgentSession({
      sessionId,
      channel,
      scratchPaths: ["/tmp", "/dev/shm"],
      hasProxy: spec.proxyDir !== undefined,
      skillsMountPoint,
      settingsFor: (limits) => ({
        folder: "/workspace",
        env: environment,
        limits: callLimits(limits, this.#bounds()),
      }),
      watchDiskLimit: ({ workspaceBytes: bytes, workspaceFiles: files }, until) =>
        watchDiskLimit({ folder: spec.workspaceDir, bytes, files }, this.#identity, until),
    });
  }

  list(): Promise<readonly SessionRecord[]> {
    const names = new Set([...this.#names, ...(this.#groups?.list() ?? [])]);
    const records = [...names].map((sessionId) => {
      const owner = sessionId.split("-")[0] ?? "";
      // A sandbox of ours that is not tracked any more could not be removed when it ended.
      const isLost = owner === ownerName() && !this.#names.has(sessionId);
      return { sessionId, isOrphan: isLost || isOwnerGone(owner) };
    });
    return Promise.resolve(records);
  }

  async destroy(sessionId: string): Promise<void> {
    await this.#open.get(sessionId)?.kill();
    await this.#groups?.destroy(sessionId);
  }

  #bounds(): Bounds {
    return { memory: this.#groups !== undefined, processes: true };
  }

  async #start(
    sessionId: string,
    spec: SessionSpec,
    start: () => Promise<BwrapProcess>,
  ): Promise<AgentChannel> {
    try {
      const started = await start();
      const group = await resumeInGroup(started, () => this.#groups?.open(sessionId, spec));
      return this.#channel(sessionId, started, group);
    } catch (error) {
      this.#names.delete(sessionId);
      throw error;
    }
  }

  #channel(
    sessionId: string,
    started: BwrapProcess,
    group: ControlGroup | undefined,
  ): AgentChannel {
    const cleanUp = async () => {
      await started.ended;
      this.#open.delete(sessionId);
      await group?.remove();
      this.#names.delete(sessionId);
    };
    const cleanedUp = cleanUp();
    const channel: AgentChannel = {
      input: started.input,
      output: started.output,
      ended: started.ended,
      kill: async () => {
        await started.kill();
        await cleanedUp;
      },
      ...(group && { memoryKills: () => group.memoryKills() }),
    };
    this.#open.set(sessionId, channel);
    return channel;
  }
}

/** Resumes a sandbox after its first process has joined its control group, so that no process escapes the limits. */
async function resumeInGroup(
  started: BwrapProcess,
  openGroup: () => ControlGroup | undefined,
): Promise<ControlGroup | undefined> {
  let group: ControlGroup | undefined;
  try {
    group = openGroup();
    const first = group && (await started.firstProcess);
    if (first !== undefined) group?.add(first);
    started.resume();
    return group;
  } catch (error) {
    await started.kill();
    await group?.remove();
    throw error;
  }
}
