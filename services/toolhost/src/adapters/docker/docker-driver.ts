import { randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { arch } from "node:process";
import { hostname } from "node:os";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { z } from "zod";
import { seccompProfile } from "../../domain/seccomp-profile.ts";
import type {
  ProbeReport,
  SandboxDriver,
  SandboxSession,
  SessionRecord,
  SessionSpec,
} from "../../ports/sandbox.ts";
import { agentArguments } from "../agent/agent-program.ts";
import { AgentSession } from "../agent/agent-session.ts";
import { callLimits, environment } from "../agent/call-limits.ts";
import { probeSession } from "../agent/probe-session.ts";
import type { Identity } from "../bubblewrap/identity.ts";
import { isOverfull } from "../bubblewrap/watch-disk.ts";
import { isGone, ownerName } from "../owner.ts";
import { containerConfig } from "./container-config.ts";
import { startContainer } from "./start-container.ts";
import { Engine } from "./engine.ts";
import { markedFolder } from "./marked-folder.ts";

const python = "/usr/bin/python3";
const labels = { machine: "reeve.sandbox.machine", owner: "reeve.sandbox.owner" };
const isCounted = { memory: true, processes: false };

const info = z.object({ NCPU: z.number(), Runtimes: z.record(z.string(), z.unknown()) });
const listed = z.array(
  z.object({ Names: z.array(z.string()), Labels: z.record(z.string(), z.string()) }),
);

export interface DockerOptions {
  readonly identity: Identity;
  /** As in `DOCKER_HOST`. Absent: the usual socket. */
  readonly address: string | undefined;
  readonly image: string;
  /** A folder below which workspaces lie. The engine has to see the same files there. */
  readonly probeDir: () => string;
}

/** What an engine has, as far as it matters to us. */
type EngineTraits = Pick<Parameters<typeof containerConfig>[1], "runtime" | "machineProcessors">;

/** Hardened containers, one for each sandbox, by a container engine on this machine. With gVisor where the engine has it. */
export class DockerDriver implements SandboxDriver {
  readonly name = "docker";
  readonly #options: DockerOptions;
  /** Names of our own, from before they are made until they are gone. */
  readonly #open = new Set<string>();
  #bytecode: string | undefined;
  #traits: EngineTraits | undefined;

  constructor(options: DockerOptions) {
    this.#options = options;
  }

  async probe(signal: AbortSignal): Promise<ProbeReport> {
    const { image, address } = this.#options;
    try {
      await this.#engine().greet(signal);
    } catch (error) {
      return broken(error, ["start a container engine, and let DOCKER_HOST name its socket"]);
    }
    try {
      await this.#engine().get(`/images/${image}/json`, signal);
    } catch (error) {
      const at = address === undefined ? "" : `DOCKER_HOST=${address} `;
      return broken(error, [`make the image: ${at}node scripts/sandbox-image.ts ${image}`]);
    }
    await using folder = await markedFolder(this.#options.probeDir(), this.#options.identity);
    const probed = await probeSession(this, python, folder.path, signal);
    if ("problem" in probed) return { works: false, reason: probed.problem, fixes: [] };
    if (!probed.files.includes(folder.mark)) {
      const reason = `the engine does not see the files of ${folder.path}`;
      return { works: false, reason, fixes: ["use an engine on the machine of the toolhost"] };
    }
    this.#bytecode = probed.agent;
    return { works: true, isolates: true, bounds: { memory: true, processes: true } };
  }

  async open(spec: SessionSpec, signal: AbortSignal): Promise<SandboxSession> {
    const seccomp = seccompProfile(arch);
    if (seccomp === undefined) {
      const problem = `no filter of system calls is known for ${arch}`;
      throw new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
    }
    const { image, identity } = this.#options;
    const engine = this.#engine();
    this.#traits ??= await traitsOf(engine, signal);
    const owner = ownerName() ?? "0.0";
    const sessionId = `reeve-sandbox-${owner}-${randomBytes(6).toString("hex")}`;
    const config = containerConfig(spec, {
      ...this.#traits,
      image,
      identity,
      seccomp,
      agent: agentArguments(python, this.#bytecode),
      labels: { [labels.machine]: machine(), [labels.owner]: owner },
    });
    this.#open.add(sessionId);
    const channel = await startContainer(engine, sessionId, config, signal).catch(
      (error: unknown) => {
        this.#open.delete(sessionId);
        throw error;
      },
    );
    void channel.ended.then(() => this.#open.delete(sessionId));
    return new AgentSession({
      sessionId,
      channel,
      folders: ["/tmp", "/dev/shm", "/dev/mqueue"],
      hasProxy: spec.proxyDir !== undefined,
      termsOf: (limits) => ({
        folder: "/workspace",
        env: environment,
        limits: callLimits(limits, isCounted),
      }),
      isOverfull: ({ workspaceBytes: bytes, workspaceFiles: files }, until) =>
        isOverfull({ folder: spec.workspaceDir, bytes, files }, identity, until),
    });
  }

  async list(signal: AbortSignal): Promise<readonly SessionRecord[]> {
    const filters = encodeURIComponent(
      JSON.stringify({ label: [`${labels.machine}=${machine()}`] }),
    );
    const answer = await this.#engine().get(`/containers/json?all=1&filters=${filters}`, signal);
    return listed.parse(answer).map(({ Names: [name = ""], Labels }) => {
      const sessionId = name.replace(/^\//, "");
      const owner = Labels[labels.owner] ?? "";
      // One of ours that we know nothing of any more could not be taken away in its time.
      const isLost = owner === ownerName() && !this.#open.has(sessionId);
      return { sessionId, isOrphan: isLost || isGone(owner) };
    });
  }

  async destroy(sessionId: string, signal: AbortSignal): Promise<void> {
    await this.#engine().remove(sessionId, signal);
  }

  #engine(): Engine {
    return new Engine(this.#options.address);
  }
}

async function traitsOf(engine: Engine, signal: AbortSignal): Promise<EngineTraits> {
  const told = info.safeParse(await engine.get("/info", signal));
  if (!told.success) {
    const problem = "what answers as the container engine is none";
    throw new Failure("unavailable", ErrorReason.UNAVAILABLE, problem, { cause: told.error });
  }
  const { NCPU, Runtimes } = told.data;
  return { machineProcessors: NCPU, runtime: "runsc" in Runtimes ? "runsc" : undefined };
}

/** Where ids of processes mean the same as here: this start of this machine, and this namespace of processes. */
function machine(): string {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return `${hostname()}/${boot}/${readlinkSync("/proc/self/ns/pid")}`;
}

function broken(error: unknown, fixes: readonly string[]): ProbeReport {
  if (!(error instanceof Failure)) throw error;
  return { works: false, reason: error.message, fixes };
}
