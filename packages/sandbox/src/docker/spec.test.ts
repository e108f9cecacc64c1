import { expect, test } from "vitest";
import { seccompProfile } from "../seccomp/seccomp-profile.ts";
import { containerConfig } from "./spec.ts";

const spec = { workspaceDir: "/w", readOnly: false, memoryBytes: 2 ** 30, processes: 64 };
const setting = {
  image: "box:1",
  agent: ["/usr/bin/python3"],
  identity: { uid: 64_017, gid: 64_018, isDedicated: true },
  seccomp: seccompProfile("x64") ?? {},
  labels: { owner: "1.2" },
  runtime: undefined,
  machineProcessors: 8,
};

test("a container has no network, no privileges, nothing to write but its workspace, and bounds", () => {
  const config = containerConfig(spec, setting);
  expect(config).toMatchObject({
    Image: "box:1",
    User: "64017:64018",
    NetworkDisabled: true,
    StdinOnce: true,
    Env: [],
    HostConfig: {
      AutoRemove: true,
      NetworkMode: "none",
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      Privileged: false,
      Memory: 2 ** 30,
      MemorySwap: 2 ** 30,
      PidsLimit: 64,
      NanoCpus: 2_000_000_000,
      Mounts: [{ Type: "bind", Source: "/w", Target: "/workspace", ReadOnly: false }],
    },
  });
  expect(config).not.toHaveProperty("HostConfig.Runtime");
  expect(config).not.toHaveProperty("HostConfig.Binds");
});

test("gVisor is a runtime like others, and takes nothing of the hardening away", () => {
  const plain = containerConfig(spec, setting) as { readonly HostConfig: object };
  const guarded = containerConfig(spec, { ...setting, runtime: "runsc" });
  expect(guarded).toEqual({ ...plain, HostConfig: { ...plain.HostConfig, Runtime: "runsc" } });
});

test("a small machine gives no more processors than it has", () => {
  const config = containerConfig(spec, { ...setting, machineProcessors: 1 });
  expect(config).toHaveProperty("HostConfig.NanoCpus", 1_000_000_000);
});
