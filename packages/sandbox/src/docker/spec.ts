import type { SessionSpec } from "../port.ts";
import { proxyMount } from "../agent/proxy-environment.ts";
import { skillsMount } from "../host/skills-mount.ts";
import type { Identity } from "../host/identity.ts";

const tmpBytes = 256 * 2 ** 20;
const sharedMemoryBytes = 64 * 2 ** 20;
/** Processor limit of a sandbox, in billionths of a processor. */
const processors = 2_000_000_000;

export interface ContainerSettings {
  readonly image: string;
  readonly agent: readonly string[];
  readonly identity: Identity;
  readonly seccomp: object;
  readonly labels: Readonly<Record<string, string>>;
  /** Runtime of the container: `runsc`. Undefined: the engine's default. */
  readonly runtime: string | undefined;
  readonly machineProcessors: number;
}

/** Returns the configuration of a container for the engine. Each setting prevents an attack that the adversarial tests try. */
export function containerConfig(
  { workspaceDir, readOnly, memoryBytes, processes, proxyDir, skillsDir }: SessionSpec,
  { image, agent, identity, seccomp, labels, runtime, machineProcessors }: ContainerSettings,
): object {
  return {
    Image: image,
    Entrypoint: agent,
    Cmd: [],
    User: `${identity.uid}:${identity.gid}`,
    WorkingDir: "/workspace",
    Hostname: "sandbox",
    Env: [],
    Labels: labels,
    Tty: false,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    // When the toolhost is gone, the engine closes the pipe; then the agent ends and the container is removed.
    OpenStdin: true,
    StdinOnce: true,
    NetworkDisabled: true,
    HostConfig: {
      AutoRemove: true,
      NetworkMode: "none",
      IpcMode: "private",
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      Privileged: false,
      SecurityOpt: ["no-new-privileges:true", `seccomp=${JSON.stringify(seccomp)}`],
      Memory: memoryBytes,
      MemorySwap: memoryBytes,
      PidsLimit: processes,
      NanoCpus: Math.min(processors, machineProcessors * 1_000_000_000),
      ShmSize: sharedMemoryBytes,
      Tmpfs: { "/tmp": `rw,nosuid,nodev,size=${tmpBytes},mode=1777` },
      Mounts: [
        { Type: "bind", Source: workspaceDir, Target: "/workspace", ReadOnly: readOnly },
        ...(skillsDir === undefined
          ? []
          : [{ Type: "bind", Source: skillsDir, Target: skillsMount, ReadOnly: true }]),
        ...(proxyDir === undefined
          ? []
          : [{ Type: "bind", Source: proxyDir, Target: proxyMount, ReadOnly: true }]),
      ],
      Ulimits: [{ Name: "core", Soft: 0, Hard: 0 }],
      LogConfig: { Type: "none" },
      Init: false,
      ...(runtime !== undefined && { Runtime: runtime }),
    },
  };
}
