// A program in place of the reader: reports what it can do. Its input is the process id of the gateway.
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import process from "node:process";
import { text } from "node:stream/consumers";

const gateway = Number(await text(process.stdin));

function works(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}

async function connects(): Promise<boolean> {
  // An address that is reserved for documentation: without a network, there is no route to it at all.
  const socket = connect({ host: "192.0.2.1", port: 9 });
  const outcome = Promise.withResolvers<boolean>();
  socket.on("error", ({ code }: NodeJS.ErrnoException) => outcome.resolve(code !== "ENETUNREACH"));
  socket.on("connect", () => outcome.resolve(true));
  const timer = setTimeout(() => outcome.resolve(true), 200);
  const result = await outcome.promise;
  clearTimeout(timer);
  socket.destroy();
  return result;
}

const { spawnSync } = await import("node:child_process");
const attempts = {
  variables: Object.keys(process.env),
  reads: works(() => readFileSync("/etc/hostname")),
  readsEnvironmentOfGateway: works(() => readFileSync(`/proc/${gateway}/environ`)),
  writes: works(() => writeFileSync("/tmp/reeve-probe", "")),
  spawns: works(() => {
    const { error } = spawnSync("/bin/true");
    if (error !== undefined) throw error;
  }),
  connects: await connects(),
  seesGateway: works(() => process.kill(gateway, 0)),
};
const passage = { text: JSON.stringify(attempts), page: 0, firstLine: 1, lastLine: 1 };
process.stdout.end(JSON.stringify({ passages: [passage], pageCount: 0 }));
