import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { Semaphore } from "@reeve/platform/async/coordination/semaphore";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import type { Identity } from "../host/identity.ts";
import { spawnerProgram } from "../programs/programs.ts";
import { spawnIsolated } from "./spawn-directly.ts";
import type { StartedProcess } from "./started-process.ts";

/** How long a spawner, or a process that it starts, may take to start on a busy machine. */
const startMs = 10_000;
/** How many programs start at a time. The connections of more would not fit into the queue of the socket. */
const maxStarts = 8;
/** The longest path of a socket. */
const maxPathBytes = 107;
/** How much of what it says about its start is kept, in characters. */
const maxComplaint = 2_000;

/**
 * A small process that starts programs for this one. A fork copies the tables of the whole memory, and Node waits for it: tens of
 * milliseconds for a large process, in which nothing else runs. It ends with this process, and programs that are bound to their
 * parent end with it.
 */
export class Spawner {
  readonly #path: string;
  readonly #starts = new Semaphore(maxStarts);
  #isGone = false;

  private constructor(path: string, gone: Promise<unknown>) {
    this.#path = path;
    const end = () => {
      this.#isGone = true;
      // It does this itself unless it is killed.
      rmSync(dirname(path), { recursive: true, force: true });
    };
    gone.then(end, end);
  }

  /** Whether it has ended. `spawnerOf` then starts another. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Starts one that is a process of our user. Rejects if it does not start. */
  static async start(python: string): Promise<Spawner> {
    const folder = mkdtempSync(join(tmpdir(), "reeve-spawner-"));
    try {
      const path = join(folder, "socket");
      if (Buffer.byteLength(path) > maxPathBytes) throw new Error(`${path} is too long`);
      const args = ["-I", "-S", "-B", "-c", spawnerProgram, path];
      const child = spawnIsolated(python, args, ourselves(), 3);
      const closed = once(child, "close");
      const [input, output, errors] = [child.stdin, child.stdout, child.stderr];
      let complaint = "";
      errors?.on("data", (chunk: Buffer) => {
        if (complaint.length < maxComplaint) complaint += chunk.toString();
      });
      for (const pipe of [input, output, errors]) pipe?.on("error", () => undefined);
      const ready = output && once(output, "data", { signal: AbortSignal.timeout(startMs) });
      const isReady = await Promise.race([ready?.then(() => true), closed.then(() => false)]).catch(
        () => false,
      );
      if (!isReady) {
        child.kill("SIGKILL");
        throw new Error(`the spawner did not start: ${complaint.trim()}`);
      }
      // It does not keep this process alive.
      child.unref();
      for (const pipe of [input, output, errors]) (pipe as Socket | null)?.unref();
      return new Spawner(path, closed);
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Starts a program with an empty environment. Rejects if this process has no connection to it. */
  async spawn(
    program: string,
    args: readonly string[],
    { uid, gid, isDedicated }: Identity,
    descriptors: number,
  ): Promise<StartedProcess> {
    using _ = await this.#starts.acquire(neverAborts);
    const id = randomBytes(8).toString("hex");
    // First: the spawner refuses descriptors of a program that it does not know.
    const control = this.#open(id, "c");
    const request = { program, args, uid: isDedicated ? uid : null, gid, descriptors };
    const content = Buffer.from(JSON.stringify(request));
    const size = Buffer.alloc(4);
    size.writeUInt32BE(content.length);
    control.write(Buffer.concat([size, content]));
    const pipes = Array.from({ length: descriptors }, (_each, index) =>
      this.#open(id, String(index)),
    );
    const ended = new Promise<void>((resolve) => void control.once("close", () => resolve()));
    let hasEnded = false;
    void ended.then(() => (hasEnded = true));
    const pid = await Promise.race([pidFrom(control), ended]).catch(() => undefined);
    if (pid === undefined) {
      // A process that it starts later is killed.
      for (const socket of [control, ...pipes]) socket.destroy();
      throw new Error("the spawner started no process");
    }
    return {
      pid,
      get hasEnded() {
        return hasEnded;
      },
      ended,
      pipes,
      kill: () => void control.end("k"),
    };
  }

  #open(id: string, part: string): Socket {
    const socket = connect({ path: this.#path });
    socket.on("error", () => undefined);
    socket.write(id + part);
    return socket;
  }
}

/** Reads the id of the process. It stays open until the process has ended. */
async function pidFrom(control: Socket): Promise<number> {
  const signal = AbortSignal.timeout(startMs);
  const [chunk] = (await once(control, "data", { signal })) as [Buffer];
  control.resume();
  return Number(chunk.toString().trim());
}

function ourselves(): Identity {
  return { uid: process.geteuid?.() ?? -1, gid: process.getegid?.() ?? -1, isDedicated: false };
}

let running: { readonly python: string; readonly spawner: Promise<Spawner> } | undefined;

/** Returns the spawner of this process. Undefined: none can be started. */
export async function spawnerOf(python: string): Promise<Spawner | undefined> {
  const known = running;
  const spawner = await known?.spawner.catch(() => undefined);
  if (known !== undefined && known === running && known.python === python) {
    if (spawner === undefined || !spawner.isGone) return spawner;
  }
  if (running === known) running = { python, spawner: Spawner.start(python) };
  return await running?.spawner.catch(() => undefined);
}
