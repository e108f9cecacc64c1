import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { permissionsOf } from "@reeve/jetstream/access/permissions";
import { operator, userNames } from "@reeve/jetstream/access/server-users";
import { parse } from "yaml";
import { expect, test } from "vitest";
import { natsProgram } from "../support/nats-program.ts";
import { repository } from "./support/render.ts";

function values(file: string): unknown {
  return parse(readFileSync(join(repository, "deploy/k8s/values", file), "utf8"));
}

test("the NATS servers of production acknowledge an append when it is on their disks", () => {
  expect(values("nats.yaml")).toMatchObject({
    config: {
      cluster: { enabled: true, replicas: 3 },
      jetstream: { enabled: true, merge: { sync_interval: "always" } },
    },
  });
});

test("the NATS servers of production have a user with its permissions for each service", () => {
  const users = userNames.map((user) => {
    const password = `<< $REEVE_NATS_${user.toUpperCase()}_PASSWORD >>`;
    if (user === operator) return { user, password };
    const { publish, subscribe } = permissionsOf(user);
    return {
      user,
      password,
      permissions: { publish: { allow: publish }, subscribe: { allow: subscribe } },
    };
  });
  const env = userNames.map((user) => [
    `REEVE_NATS_${user.toUpperCase()}_PASSWORD`,
    { valueFrom: { secretKeyRef: { name: `reeve-nats-${user}`, key: "password" } } },
  ]);
  expect(values("nats-users.yaml")).toEqual({
    config: { merge: { authorization: { users } } },
    container: { env: Object.fromEntries(env) as unknown },
  });
});

test("a NATS server accepts the users as its chart writes them", () => {
  const { config } = values("nats-users.yaml") as { readonly config: { readonly merge: object } };
  // The chart removes the quotes around what is between << and >>.
  const written = JSON.stringify(config.merge, undefined, 2).replaceAll(/"<<\s+(.*)\s+>>"/g, "$1");
  const passwords = userNames.map((user) => [`REEVE_NATS_${user.toUpperCase()}_PASSWORD`, "pass"]);
  const env = { ...process.env, ...(Object.fromEntries(passwords) as Record<string, string>) };
  const folder = mkdtempSync(join(tmpdir(), "reeve-values-"));
  try {
    const path = join(folder, "nats.conf");
    writeFileSync(path, written);
    const { status, stderr } = spawnSync(natsProgram(), ["-t", "--config", path], { env });
    expect([status, stderr.toString()]).toEqual([0, expect.stringContaining("is valid")]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
