import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram } from "@reeve/platform/nats/nats-server";
import { freePorts } from "../../../test/support/free-ports.ts";

export interface NatsCluster extends AsyncDisposable {
  readonly url: string;
}

/** Starts a cluster of three NATS servers that accepts this user and password. */
export async function startNatsCluster(user: string, password: string): Promise<NatsCluster> {
  await using starting = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "reeve-cluster-"));
  starting.defer(() => rmSync(folder, { recursive: true, force: true }));
  const ports = await freePorts(6);
  const [clients, routes] = [ports.slice(0, 3), ports.slice(3)];
  for (const [index, port] of clients.entries()) {
    const config = {
      server_name: `nats-${index}`,
      listen: `127.0.0.1:${port}`,
      jetstream: { store_dir: join(folder, `${index}`) },
      authorization: { user, password },
      cluster: {
        name: "reeve",
        listen: `127.0.0.1:${routes[index]}`,
        routes: routes.map((route) => `nats-route://127.0.0.1:${route}`),
      },
    };
    const file = join(folder, `${index}.conf`);
    // NATS reads JSON.
    writeFileSync(file, JSON.stringify(config));
    const child = spawn(findProgram("nats-server") ?? "nats-server", ["--config", file], {
      stdio: "ignore",
    });
    const ended = once(child, "exit");
    starting.defer(async () => {
      child.kill("SIGKILL");
      await ended;
    });
  }
  const resources = starting.move();
  return {
    url: `nats://127.0.0.1:${clients[0]}`,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
