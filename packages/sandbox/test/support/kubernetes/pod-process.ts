import { chmod, chown, mkdir, writeFile } from "node:fs/promises";
import { arch } from "node:process";
import type { V1Pod } from "@kubernetes/client-node";
import type { BwrapProcess } from "../../../src/bubblewrap/start.ts";
import { startBwrap } from "../../../src/bubblewrap/start.ts";
import { bwrapArguments } from "../../../src/bubblewrap/spec.ts";
import { sandboxIdentity } from "../../../src/host/identity.ts";
import { systemProgram, systemView } from "../../../src/host/system-view.ts";
import { seccompProgram } from "../../../src/seccomp/seccomp-program.ts";

const identity = sandboxIdentity(64_017);

/** Runs the container of a pod, as a kubelet would, in a bubblewrap sandbox of this machine with an empty workspace. */
export async function startPodProcess(pod: V1Pod, folder: string): Promise<BwrapProcess> {
  const bwrap = systemProgram("bwrap");
  const seccomp = seccompProgram(arch);
  const [container] = pod.spec?.containers ?? [];
  if (bwrap === undefined || seccomp === undefined || container === undefined) {
    throw new Error("this machine cannot run pods");
  }
  await mkdir(folder, { mode: 0o700 });
  if (identity.isDedicated) {
    await chmod(folder, 0o700);
    await chown(folder, identity.uid, identity.gid);
  }
  const agent = container.command ?? [];
  const settings = { workspaceDir: folder, readOnly: false, agent, system: systemView() };
  const args = [...bwrapArguments(settings)];
  // A kubelet makes this file world-writable.
  const terminationLog = `${folder}.termination-log`;
  await writeFile(terminationLog, "");
  await chmod(terminationLog, 0o666);
  args.splice(args.indexOf("--dev") + 2, 0, "--bind", terminationLog, "/dev/termination-log");
  const started = await startBwrap(bwrap, args, identity, { seccomp });
  started.resume();
  return started;
}
