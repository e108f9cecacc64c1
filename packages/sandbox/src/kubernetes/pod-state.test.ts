import { expect, test } from "vitest";
import { readPod, stateOfPod } from "./pod-state.ts";

const metadata = { name: "reeve-sandbox-1" };

/** Reads the state of a pod with this status. */
function stateOf(status: object, more: object = {}) {
  return stateOfPod(readPod({ metadata: { ...metadata, ...more }, status }));
}

function container(state: object, name = "sandbox") {
  return { phase: "Pending", containerStatuses: [{ name, state }] };
}

test("a pod runs when its sandbox container runs, regardless of injected containers", () => {
  expect(stateOf(container({ running: {} })).kind).toBe("running");
  expect(stateOf(container({ running: {} }, "istio-proxy")).kind).toBe("waiting");
});

test.each(["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError"])(
  "a pod that waits with %s is stuck",
  (reason) => {
    const state = stateOf(container({ waiting: { reason, message: "it is so" } }));
    expect(state).toMatchObject({ kind: "stuck", why: `${reason}: it is so` });
  },
);

test.each([
  ["The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi.", "other"],
  ['Usage of EmptyDir volume "workspace" exceeds the limit "1280Mi". ', "disk"],
  ["Pod ephemeral local storage usage exceeds the total limit of containers 1280Mi. ", "disk"],
  ['Container sandbox exceeded its local ephemeral storage limit "1280Mi". ', "disk"],
])("an eviction with the message %j has the cause %s", (message, cause) => {
  const state = stateOf({ phase: "Failed", reason: "Evicted", message });
  expect(state).toMatchObject({ kind: "over", cause });
});

test("a pod that is being deleted is over while it still runs", () => {
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  expect(stateOf(container({ running: {} }), { deletionTimestamp }).kind).toBe("over");
});
