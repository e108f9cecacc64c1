import { randomBytes } from "node:crypto";
import { arch } from "node:process";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { z } from "zod";
import { seccompProfile } from "../seccomp/seccomp-profile.ts";
import type {
  ProbeReport,
  SandboxDriver,
  SandboxSession,
  SessionRecord,
  SessionSpec,
} from "../port.ts";
import { agentArguments } from "../agent/agent-program.ts";
import { AgentSession } from "../agent/agent-session.ts";
import { callLimits, environment } from "../agent/call-limits.ts";
import { probeSession } from "../agent/probe-session.ts";
import type { Identity } from "../host/identity.ts";
import { makeSkillsMountPoint } from "../host/skills-mount.ts";
import { watchDiskLimit } from "../host/watch-disk-limit.ts";
import { isOwnerGone, machineId, ownerName } from "../host/owner.ts";
import { containerConfig } from "./spec.ts";
import { Engine } from "./engine.ts";
import type { EngineTraits } from "./engine-traits.ts";
import { candidateRuntimes, readEngineTraits } from "./engine-traits.ts";
import { probeFolder } from "./probe-folder.ts";
import { startContainer } from "./start.ts";

const python = "/usr/bin/python3";
const labels = { machine: "reeve.sandbox.machine", owner: "reeve.sandbox.owner" };
const engineFix = "start a container engine, and set DOCKER_HOST to its socket";
const isCounted = { memory: true, processes: false };

const listed = z.array(
  z.object({ Names: z.array(z.string()), Labels: z.record(z.string(), z.string()) }),
);

export interface DockerOptions {
  readonly identity: Identity;
  /** Address of the engine, as in `DOCKER_HOST`. Default: `unix:///var/run/docker.sock`. */
  readonly address: string | undefined;
  readonly image: string;
  /** The only runtime to use. Default: gVisor (`runsc`) if the engine has it and it works, else the engine's default. */
  readonly runtime?: string | undefined;
  /** Returns the parent folder of workspaces. The engine must see the same files there. */
  readonly probeDir: () => string;
}

/** Starts each sandbox as a hardened container, by a container engine on this machine, with gVisor if the engine has it. */
export class DockerDriver implements SandboxDriver {
  readonly name = "docker";
  readonly #options: DockerOptions;
  /** Names of our own containers, from before they start until they are gone. */
  readonly #open = new Set<string>();
  #bytecode: string | undefined;
  #traits: EngineTraits | undefined;
  #runtime: string | undefined;

  constructor(options: DockerOptions) {
    this.#options = options;
    this.#runtime = options.runtime;
  }

  async probe(signal: AbortSignal): Promise<ProbeReport> {
    const { image, address } = this.#options;
    try {
      await this.#engine().ping(signal);
    } catch (error) {
      return broken(error, []);
    }
    try {
      await this.#engine().get(`/images/${image}/json`, signal);
    } catch (error) {
      const at = address === undefined ? "" : `DOCKER_HOST=${address} `;
      return broken(error, [`build the image: ${at}npx node scripts/sandbox-image.ts ${image}`]);
    }
    const notes: string[] = [];
    let fixes: readonly string[] = [];
    try {
      this.#traits = await readEngineTraits(this.#engine(), signal);
      for (const runtime of candidateRuntimes(this.#traits, this.#options.runtime)) {
        this.#runtime = runtime;
        const report = await this.#tryRuntime(signal);
        if (report.works) return { ...report, notes };
        notes.push(`${runtime === undefined ? "" : `with ${runtime}: `}${report.reason}`);
        ({ fixes } = report);
      }
    } catch (error) {
      const isUnknownRuntime = error instanceof Failure && error.kind === "precondition";
      return broken(error, [
        isUnknownRuntime ? "set REEVE_SANDBOX_RUNTIME to one of those, or unset it" : engineFix,
      ]);
    }
    return { works: false, reason: notes.join("; "), fixes };
  }

  async open(spec: SessionSpec, signal: AbortSignal): Promise<SandboxSession> {
    const seccomp = seccompProfile(arch);
    if (seccomp === undefined) {
      const problem = `there is no seccomp filter for ${arch}`;
      throw new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
    }
    const { image, identity, address } = this.#options;
    const skillsMountPoint = spec.skillsDir && makeSkillsMountPoint(spec.workspaceDir, identity);
    const runtime = this.#runtime;
    const engine = this.#engine();
    this.#traits ??= await readEngineTraits(engine, signal);
    const owner = ownerName() ?? "0.0";
    const sessionId = `reeve-sandbox-${owner}-${randomBytes(6).toString("hex")}`;
    const config = containerConfig(spec, {
      machineProcessors: this.#traits.machineProcessors,
      runtime,
      image,
      identity,
      seccomp,
      agent: agentArguments(python, this.#bytecode),
      labels: { [labels.machine]: machineId(), [labels.owner]: owner },
    });
    this.#open.add(sessionId);
    const onGone = () => void this.#open.delete(sessionId);
    const attempt = { image, runtime, address };
    const channel = await startContainer(
      { engine, name: sessionId, config, attempt, onGone },
      signal,
    );
    return new AgentSession({
      sessionId,
      channel,
      scratchPaths: ["/tmp", "/dev/shm", "/dev/mqueue"],
      hasProxy: spec.proxyDir !== undefined,
      skillsMountPoint,
      settingsFor: (limits) => ({
        folder: "/workspace",
        env: environment,
        limits: callLimits(limits, isCounted),
      }),
      watchDiskLimit: ({ workspaceBytes: bytes, workspaceFiles: files }, until) =>
        watchDiskLimit({ folder: spec.workspaceDir, bytes, files }, identity, until),
    });
  }

  async list(signal: AbortSignal): Promise<readonly SessionRecord[]> {
    const filters = encodeURIComponent(
      JSON.stringify({ label: [`${labels.machine}=${machineId()}`] }),
    );
    const answer = await this.#engine().get(`/containers/json?all=1&filters=${filters}`, signal);
    return listed.parse(answer).map(({ Names: [name = ""], Labels }) => {
      const sessionId = name.replace(/^\//, "");
      const owner = Labels[labels.owner] ?? "";
      // A container of ours that is not tracked any more could not be removed when it ended.
      const isLost = owner === ownerName() && !this.#open.has(sessionId);
      return { sessionId, isOrphan: isLost || isOwnerGone(owner) };
    });
  }

  async destroy(sessionId: string, signal: AbortSignal): Promise<void> {
    await this.#engine().remove(sessionId, signal);
  }

  /** Probes with the runtime in `#runtime`. */
  async #tryRuntime(signal: AbortSignal): Promise<ProbeReport> {
    await using folder = await probeFolder(this.#options.probeDir(), this.#options.identity);
    const probed = await probeSession(this, python, folder.path, signal);
    if ("problem" in probed) return { works: false, reason: probed.problem, fixes: [] };
    if (!probed.files.includes(folder.mark)) {
      const reason = `the engine does not see the files in ${folder.path}`;
      return { works: false, reason, fixes: ["use an engine on the same machine as the toolhost"] };
    }
    this.#bytecode = probed.agent;
    return { works: true, isolates: true, bounds: { memory: true, processes: true } };
  }

  #engine(): Engine {
    return new Engine(this.#options.address);
  }
}

function broken(error: unknown, fixes: readonly string[]): ProbeReport {
  if (!(error instanceof Failure)) throw error;
  return { works: false, reason: error.message, fixes };
}
