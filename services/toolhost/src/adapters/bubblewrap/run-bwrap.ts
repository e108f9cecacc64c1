import type { EndReason, ExecEvent, SandboxCommand } from "../../ports/sandbox.ts";
import type { BwrapProcess } from "./bwrap-process.ts";
import { startBwrap } from "./bwrap-process.ts";
import { giveInput } from "./child-input.ts";
import type { ControlGroup, OpenControlGroup } from "./control-groups.ts";
import { ExecEvents } from "./exec-events.ts";
import type { Identity } from "./identity.ts";
import { isOverfull } from "./watch-disk.ts";

const signalBase = 128;
const lastSignal = 64;

export interface BwrapCall {
  readonly program: string;
  readonly args: readonly string[];
  /** The workspace. */
  readonly folder: string;
  readonly identity: Identity;
  readonly seccomp: Uint8Array;
  readonly openGroup: OpenControlGroup | undefined;
}

/** Runs bwrap for one command, and ends the whole of it when time, output or the caller's patience is over. */
export async function* runBwrap(
  { program, args, folder, identity, seccomp, openGroup }: BwrapCall,
  command: SandboxCommand,
  signal: AbortSignal,
): AsyncIterable<ExecEvent> {
  signal.throwIfAborted();
  const began = performance.now();
  const events = new ExecEvents();
  const bwrap = await startBwrap(program, args, identity, seccomp);
  const group = openOrKill(bwrap, () => openGroup?.(command.limits));
  const over = new AbortController();
  let ended: EndReason | undefined;
  const end = (reason: EndReason) => {
    ended ??= reason;
    void bwrap.kill();
  };
  const cancel = () => end("cancelled");
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  const timer = setTimeout(() => end("timeout"), command.limits.timeoutMs);
  collectOutput(bwrap, events, command.limits.outputBytes, () => end("output_limit"));
  const measure = async () => {
    const { workspaceBytes: bytes, workspaceFiles: files } = command.limits;
    if (await isOverfull({ folder, bytes, files }, identity, over.signal)) end("disk_limit");
  };
  if (command.readOnly !== true) measure().catch(() => end("sandbox_lost"));
  const live = async () => {
    try {
      await admit(bwrap, group);
      await bwrap.begin();
      await giveInput(bwrap.stdin, command.stdin);
    } catch (error) {
      end("sandbox_lost");
      events.fail(error);
    }
  };
  const finish = async () => {
    const code = await bwrap.ended;
    clearTimeout(timer);
    over.abort();
    const own = group?.ranOutOfMemory() === true ? "oom" : reasonOf(code);
    group?.remove();
    const durationMs = performance.now() - began;
    events.end({ kind: "end", reason: ended ?? own, code, durationMs });
  };
  void live();
  void finish();
  try {
    yield* events.read();
  } finally {
    clearTimeout(timer);
    over.abort();
    signal.removeEventListener("abort", cancel);
    void bwrap.kill();
  }
}

/** bwrap waits to be released, so there is nothing to lose when there is no group to be had. */
function openOrKill(
  bwrap: BwrapProcess,
  open: () => ControlGroup | undefined,
): ControlGroup | undefined {
  try {
    return open();
  } catch (error) {
    void bwrap.kill();
    throw error;
  }
}

/** The sandbox begins only when it is in its group, so that nothing of it escapes the limits. */
async function admit(bwrap: BwrapProcess, group: ControlGroup | undefined): Promise<void> {
  const first = group && (await bwrap.firstProcess);
  if (first !== undefined) group?.add(first);
  bwrap.letIn();
}

function collectOutput(
  { stdout, stderr, result }: BwrapProcess,
  events: ExecEvents,
  mostBytes: number,
  onTooMuch: () => void,
): void {
  let total = 0;
  const isWanted = (bytes: number) => {
    total += bytes;
    if (total > mostBytes) onTooMuch();
    return total <= mostBytes;
  };
  events.add("stdout", stdout, isWanted);
  events.add("stderr", stderr, isWanted);
  events.add("result", result, isWanted);
}

function reasonOf(code: number | undefined): EndReason {
  if (code === undefined) return "sandbox_lost";
  return code > signalBase && code <= signalBase + lastSignal ? "signal" : "exit";
}
