import { setTimeout as wait } from "node:timers/promises";
import type { Scene, WeightedFault } from "../../chaos/support/faults.ts";
import { recorded } from "../../chaos/support/faults.ts";
import type { NatsCluster } from "../../support/nats-cluster.ts";
import type { Routes } from "./routes.ts";

/** The streams whose leaders are attacked. */
const streams = ["RUNS", "DISPATCH", "TOOL_CALLS", "TOOL_JOURNAL", "THREADS"];

/**
 * Returns the faults of three NATS servers; with `losePower` and `replace`, also those of servers that lose power, and that lose
 * their stores. One at a time: two of three servers are needed to store anything.
 */
export function storeFaultsOf(
  servers: NatsCluster,
  routes: Routes,
  { losePower, replace }: { readonly losePower: boolean; readonly replace: boolean },
): readonly WeightedFault[] {
  const names = () => servers.servers.map(({ name }) => name);
  const any = ({ random }: Scene) => random.pick(names());
  const leader = async ({ random }: Scene) => await servers.leaderOf(random.pick(streams));
  const partition =
    (cut: (name: string) => void) =>
    async (name: string, { random }: Scene) => {
      cut(name);
      await wait(random.between(300, 6_000));
      routes.heal(name);
      await servers.ready();
    };
  const killed = async (name: string, { random }: Scene) => {
    await servers.kill(name);
    await wait(random.between(0, 2_000));
    await servers.restart(name);
  };
  return [
    ["leader kill", 3, onServer("NATS leader killed", leader, killed)],
    ["server kill", 2, onServer("NATS server killed", async (scene) => any(scene), killed)],
    [
      "server pause",
      3,
      onServer(
        "NATS server stopped",
        async (scene) => any(scene),
        async (name, { random }) => {
          servers.pause(name);
          await wait(random.between(200, 5_000));
          servers.resume(name);
        },
      ),
    ],
    [
      "partition",
      3,
      onServer(
        "NATS server isolated",
        leader,
        partition((name) => routes.isolate(name)),
      ),
    ],
    [
      "one-way partition",
      3,
      onServer(
        "NATS server muted",
        leader,
        partition((name) => routes.mute(name)),
      ),
    ],
    [
      "deaf server",
      2,
      onServer(
        "NATS server deafened",
        leader,
        partition((name) => routes.deafen(name)),
      ),
    ],
    [
      "leader change",
      3,
      onServer("NATS leader stepped down", leader, async (_, { random }) => {
        await servers.stepDown(random.pick(streams));
      }),
    ],
    [
      "cluster kill",
      1,
      onServer(
        "all NATS servers killed",
        async () => "nats",
        async (_, { random }) => {
          await Promise.all(names().map((name) => servers.kill(name)));
          await wait(random.between(0, 2_000));
          await servers.restartAll();
        },
      ),
    ],
    ...(losePower ? powerFaults(servers) : []),
    ...(replace ? lostStores(servers) : []),
  ];
}

/**
 * A server is replaced by one with another name and an empty store, or comes back empty under its own name, when the others have
 * everything: otherwise the loss of its store would lose data.
 */
function lostStores(servers: NatsCluster): readonly WeightedFault[] {
  const any = async ({ random }: Scene) => random.pick(servers.servers.map(({ name }) => name));
  const replaced = onServer("NATS server replaced for good", any, async (name) => {
    await servers.replace(name);
  });
  const emptied = onServer("NATS server lost its disk", any, async (name) => {
    await servers.loseDisk(name);
  });
  return [
    ["membership change", 1, whenWhole(servers, replaced)],
    ["disk loss", 1, whenWhole(servers, emptied)],
  ];
}

/** Injects a fault only when each server has everything. */
function whenWhole(servers: NatsCluster, inject: (scene: Scene) => Promise<void>) {
  return async (scene: Scene) => {
    const { busy, note } = scene;
    if (busy.has("nats")) return;
    busy.add("nats");
    const behind = await servers.streamsBehind().finally(() => busy.delete("nats"));
    if (behind.length === 0) await inject(scene);
    else note(`no NATS server loses its store: copies of ${behind.join(", ")} are behind`);
  };
}

/** What servers had not written to their disks is gone. */
function powerFaults(servers: NatsCluster): readonly WeightedFault[] {
  const names = () => servers.servers.map(({ name }) => name);
  return [
    [
      "power loss",
      2,
      onServer(
        "NATS server lost power",
        async ({ random }) => random.pick(names()),
        async (name, { random }) => {
          await servers.losePower([name]);
          await wait(random.between(0, 2_000));
          await servers.restart(name);
        },
      ),
    ],
    [
      "cluster power loss",
      1,
      onServer(
        "all NATS servers lost power",
        async () => "nats",
        async (_, { random }) => {
          await servers.losePower(names());
          await wait(random.between(0, 2_000));
          await servers.restartAll();
        },
      ),
    ],
  ];
}

/** A fault of one server, or of all, at a time. */
function onServer(
  what: string,
  choose: (scene: Scene) => Promise<string>,
  does: (name: string, scene: Scene) => Promise<void>,
) {
  return async (scene: Scene) => {
    if (scene.busy.has("nats")) return;
    // A fault of one server affects every process, as the leader of some stream.
    await recorded(scene, what, ["nats"], async () => {
      await does(await choose(scene), scene);
    });
  };
}
