import { afterAll } from "vitest";
import { KubernetesDriver } from "../src/kubernetes/driver.ts";
import { sandboxIdentity } from "../src/host/identity.ts";
import { sessionWorkspaceContract } from "./support/contract/sandbox-contract.ts";
import { driverOptions } from "./support/kubernetes/driver-options.ts";
import { RecordedCluster } from "./support/kubernetes/recorded-cluster.ts";
import { skipReason } from "./support/bubblewrap-here.ts";

const cluster = await RecordedCluster.start();
afterAll(() => cluster[Symbol.asyncDispose]());

// The pods of this cluster are bubblewrap sandboxes of this machine.
if (skipReason !== "") sessionWorkspaceContract("kubernetes", undefined, skipReason);
else {
  const driver = new KubernetesDriver(driverOptions(cluster));
  sessionWorkspaceContract("kubernetes", {
    driver,
    identity: sandboxIdentity(64_017),
    bounds: { memory: false, processes: true },
    inside: "/workspace",
    hidden: [],
  });
}
