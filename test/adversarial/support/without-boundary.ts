import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { Identity } from "@reeve/sandbox/host/identity";
import type { Attack } from "./attack.ts";
import type { Ways } from "./prober.ts";
import type { Given } from "./prober.ts";
import { proberArguments, proberInput, proberOutcomes } from "./prober.ts";

const python = "/usr/bin/python3";
/** Arguments of `unshare` for new namespaces, whose owner has all rights inside and none outside. */
const ownNamespaces = [
  "--user --map-root-user --mount --uts --ipc --net --pid --cgroup",
  "--fork --kill-child --mount-proc",
].flatMap((words) => words.split(" "));

/** Runs attacks without a sandbox, as an unprivileged user. Throws if the user is root. */
export async function withoutBoundary(
  where: "outside" | "namespace",
  attacks: readonly Attack[],
  given: Given,
  { uid, gid, isDedicated }: Identity,
): Promise<Readonly<Record<string, Ways>>> {
  if (uid === 0) throw new Error("refusing to run attacks as root on the host");
  const [program, ...args] = [
    ...(where === "namespace" ? ["unshare", ...ownNamespaces] : []),
    python,
    ...proberArguments,
  ] as [string, ...string[]];
  const child = spawn(program, args, {
    cwd: given.workspace,
    env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin" },
    ...(isDedicated && { uid, gid }),
  });
  const ended = once(child, "exit");
  child.stdin.end(proberInput({ ...given, first: 0 }, attacks));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  return proberOutcomes(stdout, stderr);
}
