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

test("a container has no network, no privileges, a read-only root, and resource limits", () => {
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

test("gVisor changes the runtime and none of the hardening", () => {
  const plain = containerConfig(spec, setting) as { readonly HostConfig: object };
  const withGvisor = containerConfig(spec, { ...setting, runtime: "runsc" });
  expect(withGvisor).toEqual({ ...plain, HostConfig: { ...plain.HostConfig, Runtime: "runsc" } });
});

test("a container gets no more processors than a small machine has", () => {
  const config = containerConfig(spec, { ...setting, machineProcessors: 1 });
  expect(config).toHaveProperty("HostConfig.NanoCpus", 1_000_000_000);
});
