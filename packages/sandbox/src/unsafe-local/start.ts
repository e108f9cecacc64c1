import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { ErrorReason } from "@reeve/contracts/error";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { settledWithin } from "@reeve/platform/async/settled-within";
import { Failure } from "@reeve/platform/failure";
import type { AgentChannel } from "../agent/agent-channel.ts";
import { agentArguments } from "../agent/agent-program.ts";
import type { Identity } from "../host/identity.ts";
import { systemProgram } from "../host/system-view.ts";

/** How long an agent may take to end its command and itself, and then the kernel to end the agent. */
const endMs = 3_000;

/** Starts the agent as a process of this machine, with an empty environment. Throws a Failure if it cannot be started. */
export async function startLocalAgent({ uid, gid, isDedicated }: Identity): Promise<AgentChannel> {
  const [python = "", ...args] = agentArguments(systemProgram("python3") ?? "python3");
  const child = spawn(python, args, {
    cwd: "/",
    env: {},
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
    ...(isDedicated && { uid, gid }),
  });
  const exited = once(child, "exit");
  await once(child, "spawn").catch((cause: unknown) => {
    const problem = `cannot start ${python}; check that it is installed and executable`;
    throw new Failure("unavailable", ErrorReason.UNAVAILABLE, problem, { cause });
  });
  const { promise: abandoned, resolve: abandon } = Promise.withResolvers<void>();
  return {
    input: child.stdin,
    output: child.stdout,
    ended: Promise.race([exited, abandoned]).then(() => ""),
    kill: async () => {
      await endAgent(child, exited);
      abandon();
    },
  };
}

/**
 * Ends an agent. An agent that loses its pipe ends its command and then itself, if it is not stopped; code that it runs may
 * prevent that, so after a timeout the kernel ends it. Resolves when the agent is gone, or cannot be ended.
 */
async function endAgent(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  child.stdin?.destroy();
  signalGroup(child, "SIGCONT");
  if (await settledWithin(exited, endMs, neverAborts)) return;
  signalGroup(child, "SIGKILL");
  await settledWithin(exited, endMs, neverAborts);
}

/** Signals the process group, which the agent leads. */
function signalGroup({ pid, exitCode, signalCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}
