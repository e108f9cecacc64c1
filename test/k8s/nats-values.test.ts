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

interface Values {
  readonly config: {
    readonly merge: {
      readonly accounts: {
        readonly reeve: { readonly jetstream?: object; readonly users?: object };
      };
    };
  };
}

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
    config: { merge: { accounts: { reeve: { users } } } },
    container: { env: Object.fromEntries(env) as unknown },
  });
});

test("the NATS servers of production reach the limit of the account before they are full", () => {
  const { config } = values("nats.yaml") as {
    readonly config: {
      readonly cluster: { readonly replicas: number };
      readonly jetstream: { readonly fileStore: { readonly pvc: { readonly size: string } } };
      readonly merge: {
        readonly accounts: {
          readonly reeve: { readonly jetstream: { readonly max_file: string } };
        };
      };
    };
  };
  const gib = Number(/^(\d+)Gi$/.exec(config.jetstream.fileStore.pvc.size)?.[1]);
  const limit = config.merge.accounts.reeve.jetstream.max_file;
  const gb = Number(/^<< (\d+)GB >>$/.exec(limit)?.[1]);
  const serverBytes = gib * 1024 ** 3;
  const bytesOfEach = (gb * 1_000_000_000) / config.cluster.replicas;
  expect(bytesOfEach).toBeLessThan(0.9 * serverBytes);
  expect(bytesOfEach).toBeGreaterThan(0.75 * serverBytes);
});

test("a NATS server accepts the users as its chart writes them", () => {
  const [server, users] = ["nats.yaml", "nats-users.yaml"].map((file) => values(file) as Values);
  const { jetstream } = server?.config.merge.accounts.reeve ?? {};
  const account = { ...users?.config.merge.accounts.reeve, jetstream };
  const merged = { jetstream: {}, accounts: { reeve: account } };
  // The chart removes the quotes around what is between << and >>.
  const written = JSON.stringify(merged, undefined, 2).replaceAll(/"<<\s+(.*)\s+>>"/g, "$1");
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
