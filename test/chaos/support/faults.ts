import { setTimeout as wait } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";
import type { FaultLog } from "./fault-log.ts";
import type { Link } from "./link.ts";
import type { Member, Service } from "./member.ts";
import type { Random } from "./random.ts";

/** What a fault acts on. */
export interface Scene {
  readonly cluster: Cluster;
  readonly random: Random;
  readonly faultLog: FaultLog;
  /** Targets with an active fault. */
  readonly busy: Set<string>;
  note(line: string): void;
  /** Faults of NATS servers that others started. */
  readonly storeFaults: readonly WeightedFault[];
}

/** Injects a fault, and repairs it after a while. */
export type Fault = (scene: Scene) => Promise<void>;

/** A fault with its name, and how often it happens beside the others. */
export type WeightedFault = readonly [string, number, Fault];

/** Weights for the choice of a process. */
const weights: Readonly<Record<Service, number>> = {
  runtime: 3,
  toolhost: 3,
  gateway: 2,
  approvals: 1,
};

const listening: readonly Service[] = ["gateway", "approvals"];

/** All faults with their names and weights. */
const faults: readonly WeightedFault[] = [
  ["kill -9", 6, on("kill -9", killed)],
  ["SIGTERM", 3, on("SIGTERM", ended)],
  ["SIGSTOP", 5, on("SIGSTOP", stopped)],
  ["clock step", 2, on("clock stepped", clockStepped)],
  ["nats link cut", 3, on("connection to NATS cut", (scene, { natsLink }) => cut(scene, natsLink))],
  [
    "nats link delay",
    3,
    on("connection to NATS delayed", (scene, { natsLink }) => delayed(scene, natsLink)),
  ],
  [
    "client link cut",
    1,
    on("client connections cut", (scene, { clientLink }) => cut(scene, clientLink), listening),
  ],
  [
    "client link delay",
    1,
    on(
      "client connections delayed",
      (scene, { clientLink }) => delayed(scene, clientLink),
      listening,
    ),
  ],
  ["both", 1.5, killBoth],
  ["nats kill", 1.5, onNats("kill -9", killedNats)],
  ["nats stop", 1, onNats("SIGSTOP", stoppedNats)],
  ["nats slow", 1, onNats("stopped most of the time", slowNats)],
];

/** The names of all faults. */
export const faultNames: readonly string[] = faults.map(([name]) => name);

/** The names of the faults that do not act on NATS servers. */
export const processFaultNames: readonly string[] = faultNames.filter(
  (name) => !["nats kill", "nats stop", "nats slow"].includes(name),
);

/** Injects one of the faults named in `only` after another until `signal` aborts. Everything works again afterwards. */
export async function injectFaults(
  scene: Scene,
  only: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { random } = scene;
  const among = [...faults, ...scene.storeFaults].filter(([name]) => only.includes(name));
  const total = among.reduce((sum, [, share]) => sum + share, 0);
  while (!signal.aborted) {
    await wait(random.between(200, 1_500), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    let place = random.next() * total;
    const [, , fault] = among.find(([, share]) => (place -= share) < 0) ?? [];
    await fault?.(scene);
  }
}

type Injection = (scene: Scene, member: Member) => Promise<void>;

function on(
  what: string,
  does: Injection,
  among: readonly Service[] = Object.keys(weights) as Service[],
): Fault {
  return async (scene) => {
    const { cluster, random, busy } = scene;
    const drawn = among.flatMap((service) =>
      Array.from({ length: weights[service] }, () => cluster.of(service)).flat(),
    );
    const member = random.pick(drawn);
    if (busy.has(member.name)) return;
    await recorded(scene, what, [member.name], () => does(scene, member));
  };
}

function onNats(what: string, does: (scene: Scene) => Promise<void>): Fault {
  return async (scene) => {
    if (scene.busy.has("nats")) return;
    await recorded(scene, what, ["nats"], () => does(scene));
  };
}

/** Injects a fault into targets, marks them as busy, and records it. */
export async function recorded(
  { busy, faultLog, note }: Scene,
  what: string,
  targets: readonly string[],
  does: () => Promise<void>,
): Promise<void> {
  note(`${what}: ${targets.join(" and ")}`);
  for (const target of targets) busy.add(target);
  const over = targets.map((target) => faultLog.begin(what, target));
  await does();
  for (const end of over) end();
  for (const target of targets) busy.delete(target);
}

async function killed({ random }: Scene, member: Member): Promise<void> {
  await member.kill();
  await wait(random.between(0, 500));
  await member.start();
}

async function ended(_scene: Scene, member: Member): Promise<void> {
  await member.end();
  await member.start();
}

async function stopped({ random }: Scene, member: Member): Promise<void> {
  member.signal("SIGSTOP");
  await wait(random.between(300, 4_000));
  member.signal("SIGCONT");
}

/** The steps are larger than every duration of a test, so that times that a stepped clock wrote can be told from others. */
async function clockStepped({ random }: Scene, member: Member): Promise<void> {
  const aheadMs = Math.round(random.between(10, 120) * 60_000);
  member.setClock(random.chance(0.5) ? aheadMs : -aheadMs);
  await wait(random.between(300, 6_000));
  member.setClock(0);
}

async function cut({ random }: Scene, link: Link | undefined): Promise<void> {
  const isLong = random.chance(0.5);
  link?.cut(isLong);
  if (isLong) await wait(random.between(100, 1_500));
  link?.open();
}

async function delayed({ random }: Scene, link: Link | undefined): Promise<void> {
  link?.holdBack();
  await wait(random.between(300, 4_000));
  link?.release();
}

/** Kills a worker and a toolhost at the same time. */
async function killBoth(scene: Scene): Promise<void> {
  const { cluster, random, busy } = scene;
  const pair = [random.pick(cluster.of("runtime")), random.pick(cluster.of("toolhost"))];
  const names = pair.map(({ name }) => name);
  if (names.some((name) => busy.has(name))) return;
  await recorded(scene, "kill -9 of worker and toolhost", names, async () => {
    await Promise.all(pair.map((member) => member.kill()));
    await wait(random.between(0, 500));
    await Promise.all(pair.map((member) => member.start()));
  });
}

async function killedNats({ cluster, random }: Scene): Promise<void> {
  await cluster.killNats();
  await wait(random.between(0, 1_000));
  await cluster.startNats();
}

async function stoppedNats({ cluster, random }: Scene): Promise<void> {
  cluster.signalNats("SIGSTOP");
  await wait(random.between(200, 2_500));
  cluster.signalNats("SIGCONT");
}

/** Makes the server answer late, as with a slow disk: stops it most of the time. */
async function slowNats({ cluster, random }: Scene): Promise<void> {
  const times = random.whole(5, 20);
  for (let time = 0; time < times; time++) {
    cluster.signalNats("SIGSTOP");
    await wait(random.between(20, 150));
    cluster.signalNats("SIGCONT");
    await wait(random.between(5, 30));
  }
}
