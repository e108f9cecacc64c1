import { expect, test } from "vitest";
import { remedyFor } from "./remedies.ts";

const attempt = { image: "box:1", runtime: "runsc", address: "unix:///run/e.sock" };

/** Messages of Docker 20.10 with containerd 1.6 and runc 1.1, and of Docker 28 where its text differs. */
test.each([
  [
    "No such image: box:1",
    "DOCKER_HOST=unix:///run/e.sock npx node scripts/sandbox-image.ts box:1",
  ],
  ["Unknown runtime specified runsc", "runsc"],
  ["unknown or invalid runtime name: runsc", "REEVE_SANDBOX_RUNTIME"],
  ["Minimum memory limit allowed is 6MB", "too little memory"],
  ["fork/exec /usr/bin/containerd-shim-runc-v2: cannot allocate memory", "too little memory"],
  ["mkdir /var/lib/docker/overlay2/3f: no space left on device", "docker system df"],
  [
    'invalid mount config for type "bind": bind source path does not exist: /data/w',
    "same machine",
  ],
  [
    'failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "/usr/bin/python3": stat /usr/bin/python3: no such file or directory: unknown',
    "has no /usr/bin/python3",
  ],
  ["seccomp is not enabled in your kernel, cannot run a custom seccomp profile", "seccomp"],
])("the engine error %j has a remedy", (message, expected) => {
  expect(remedyFor(message, attempt)).toContain(expected);
});

test("an unknown error has no remedy", () => {
  expect(remedyFor("the moon is in the wrong phase", attempt)).toBeUndefined();
});
