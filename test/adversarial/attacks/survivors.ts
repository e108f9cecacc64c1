import { setImmediate as immediate } from "node:timers/promises";
import { ownerName } from "@reeve/sandbox/host/owner";
import { collect } from "@reeve/sandbox/files/collect";
import { newMark } from "@reeve/sandbox/test/support/new-mark";
import { processesWith } from "@reeve/sandbox/test/support/processes-with";
import type { Attack, Category, Verdict } from "../support/attack.ts";
import { harmed, stopped } from "../support/attack.ts";
import type { AttackBench, PythonOptions } from "../support/attack.ts";
import { limitsOf } from "../support/attack-bench.ts";
import { becomes } from "../support/becomes.ts";

interface Survival {
  readonly id: string;
  readonly attempt: string;
  /** Starts processes that try to survive. `MARK` is replaced by an argument that identifies them. */
  readonly code: string;
  readonly limits?: PythonOptions["limits"];
  /** How the call ends. */
  readonly reason: string;
}

/** Creates an attack that leaves processes behind. They must have started, and must be gone when the call has ended. */
function survival({ id, attempt, code, limits = {}, reason }: Survival): Attack {
  return {
    id,
    attempt,
    promise: "when the end is reported, nothing is left",
    control: { where: "within", why: "the processes are visible on the host while the call runs" },
    run: async (bench) => {
      const mark = newMark();
      const argv = ["python3", "-I", "-c", code.replaceAll("MARK", mark)];
      const command = { argv, limits: limitsOf(limits) };
      let seen = 0;
      let ended = "";
      for await (const event of bench.box.exec(command, bench.signal)) {
        if (event.kind === "out" && seen === 0)
          seen = await becomes(
            () => processesWith(mark).length,
            (count) => count > 0,
          );
        if (event.kind === "end") ended = event.reason;
      }
      if (seen === 0) throw new Error(`the attack ${id} started nothing (${ended})`);
      if (ended !== reason) return harmed(`the call ended by ${ended}`);
      return gone(mark);
    },
  };
}

async function gone(mark: string): Promise<Verdict> {
  const left = await becomes(
    () => processesWith(mark),
    (found) => found.length === 0,
  );
  return left.length === 0 ? stopped : harmed(left.join("; "));
}

const start = `
import os, signal, subprocess, sys, time
def sleeper(): return subprocess.Popen(["sleep", "MARK"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
def ready(): print("ready", flush=True); time.sleep(0.7)
`;

export const survivors: Category = {
  title: "Surviving processes",
  attacks: [
    survival({
      id: "daemons",
      attempt: "leaves daemons: forked twice, in new sessions, ignoring every signal",
      code: `${start}
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(1, 65):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        sleeper(); time.sleep(300)
    os._exit(0)
ready()`,
      reason: "exit",
    }),
    survival({
      id: "stopped-descendants",
      attempt: "leaves stopped processes that hold its output open",
      code: `${start}
child = subprocess.Popen(["sleep", "MARK"])
child.send_signal(signal.SIGSTOP)
ready()`,
      reason: "exit",
    }),
    survival({
      id: "hopping",
      attempt: "forks and exits constantly, so that it cannot be found by process id",
      code: `${start}
sleeper()
if os.fork() == 0:
    while True:
        if os.fork(): os._exit(0)
        os.setsid()
ready()`,
      reason: "exit",
    }),
    survival({
      id: "deaf-to-its-end",
      attempt: "ignores every signal at its time limit",
      code: `${start}
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
sleeper(); ready()
while True: pass`,
      limits: { timeoutMs: 1_500 },
      reason: "timeout",
    }),
    survival({
      id: "stopped-at-its-end",
      attempt: "stops itself and all of its processes at its time limit",
      code: `${start}
sleeper(); ready()
os.kill(-1, signal.SIGSTOP)
os.kill(os.getpid(), signal.SIGSTOP)
time.sleep(60)`,
      limits: { timeoutMs: 1_500 },
      reason: "timeout",
    }),
    {
      id: "open-and-close",
      attempt: "opens, uses, cancels and closes sandboxes at the same time, at random moments",
      promise: "nothing is left, neither processes nor sandboxes",
      control: { where: "within", why: "calls that are not cancelled return their output" },
      run: openAndClose,
    },
  ],
};

async function openAndClose(bench: AttackBench): Promise<Verdict> {
  const mark = newMark();
  const own = async () =>
    (await bench.driver.list(bench.signal)).filter(({ sessionId }) =>
      sessionId.includes(ownerName() ?? ""),
    ).length;
  const before = await own();
  const whole = async () => {
    await using session = await bench.open();
    const { text } = await bench.python("print('whole')", { box: session });
    if (text("stdout") !== "whole\n")
      throw new Error(`a concurrent call failed: ${text("stderr")}`);
  };
  const cancelled = async (turns: number) => {
    const stop = new AbortController();
    const command = { argv: ["sleep", mark], limits: limitsOf() };
    const running = collect(bench.box, command, stop.signal);
    for (let turn = 0; turn < turns; turn++) await immediate();
    stop.abort();
    await running;
  };
  const closed = async (turns: number) => {
    const session = await bench.open();
    const running = collect(
      { isolation: bench.name, exec: (...args) => session.exec(...args) },
      { argv: ["sleep", mark], limits: limitsOf() },
      bench.signal,
    ).catch(() => undefined);
    for (let turn = 0; turn < turns; turn++) await immediate();
    await session[Symbol.asyncDispose]();
    await running;
  };
  for (let round = 0; round < 3; round++) {
    await Promise.all([whole(), cancelled(round * 40), closed(round), closed(round * 30), whole()]);
  }
  const verdict = await gone(mark);
  if (verdict.kind !== "stopped") return verdict;
  // Idle sandboxes may stay, or may have been replaced.
  const after = await becomes(own, (count) => count <= Math.max(before, 2) + 2);
  return after <= Math.max(before, 2) + 2
    ? stopped
    : harmed(`${after} sandboxes, ${before} before`);
}
