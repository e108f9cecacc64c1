import process from "node:process";
import { describe, expect, test } from "vitest";
import { sandboxIdentity } from "../src/host/identity.ts";
import { KubernetesDriver } from "../src/kubernetes/driver.ts";
import { collect } from "../src/files/collect.ts";
import { defaultLimits } from "../src/port.ts";
import { limitsOf } from "./support/contract/sandbox-bench.ts";
import { sessionWorkspaceContract } from "./support/contract/sandbox-contract.ts";
import { driverOptions } from "./support/kubernetes/driver-options.ts";

const { KUBECONFIG: kubeconfig = "", REEVE_TEST_SANDBOX_IMAGE: image = "" } = process.env;
const why =
  kubeconfig === ""
    ? "KUBECONFIG is not set"
    : image === ""
      ? "REEVE_TEST_SANDBOX_IMAGE must name a sandbox image that the cluster can pull"
      : undefined;
const signal = new AbortController().signal;

// Uses the namespace of the kubeconfig, whose user must be able to create pods and leases there.
const driver = new KubernetesDriver(driverOptions({ kubeconfig }, { image }));
const report = why === undefined ? await driver.probe(signal) : undefined;

if (report?.works !== true) {
  sessionWorkspaceContract("pod of a cluster", undefined, ` (skipped: ${why ?? "see below"})`);
} else {
  const { bounds } = report;
  const identity = sandboxIdentity(64_017);
  const contender = { driver, identity, bounds, inside: "/workspace", hidden: [] };
  sessionWorkspaceContract("pod of a cluster", contender);
}

describe.skipIf(why !== undefined)(`a cluster${why === undefined ? "" : `: ${why}`}`, () => {
  test("runs sandbox pods", () => {
    expect(report).toMatchObject({ works: true });
  });

  test("gives them no network, no token, and a minimal environment", async () => {
    const spec = { ...defaultLimits, workspaceDir: "", readOnly: false };
    await using session = await driver.open(spec, signal);
    const code = `
import os, socket
print(os.getuid() > 0, os.path.exists("/var/run/secrets/kubernetes.io"), sorted(os.environ))
for host in ["kubernetes.default.svc", "169.254.169.254", "10.96.0.1"]:
    try: socket.create_connection((host, 443), 5); print("reached", host)
    except OSError: pass`;
    const { text } = await collect(
      { isolation: "", exec: (...given) => session.exec(...given) },
      { argv: ["python3", "-I", "-c", code], limits: limitsOf() },
      signal,
    );
    expect(text("stdout")).toBe("True False ['HOME', 'LANG', 'PATH', 'PWD', 'TMPDIR']\n");
  });
});
