import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { describe, expect, test } from "vitest";
import { TenantConnections } from "./tenant-connections.ts";

const never = new AbortController().signal;

/** A connection that a test can lose. */
class Line {
  readonly #end = new AbortController();
  readonly lost = this.#end.signal;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  lose(): void {
    this.#end.abort();
  }
}

function lines(max: number, open?: (tenant: string) => Promise<void>) {
  const clock = new ManualClock();
  const closed: string[] = [];
  const opened: Line[] = [];
  const connections = new TenantConnections<Line>({
    max,
    idleMs: 1_000,
    clock,
    open: async (tenant, credentials) => {
      await open?.(tenant);
      const connection = new Line(`${tenant} ${credentials} ${opened.length + 1}`);
      opened.push(connection);
      const { name } = connection;
      return {
        connection,
        [Symbol.asyncDispose]: () => Promise.resolve(void closed.push(name)),
      };
    },
  });
  const lease = (tenant: string, credentials = "k") =>
    connections.lease(tenant, credentials, never);
  return { clock, closed, opened, connections, lease };
}

describe("the connections of tenants", () => {
  test("are opened once for each, also by calls at the same time, and never shared", async () => {
    const { connections, lease } = lines(9);
    await using _ = connections;
    const leases = await Promise.all([lease("acme"), lease("acme"), lease("globex")]);
    expect(leases.map(({ connection }) => connection.name)).toEqual([
      "acme k 1",
      "acme k 1",
      "globex k 2",
    ]);
  });

  test("are closed when they were unused for a while, and not before", async () => {
    const { clock, closed, connections, lease } = lines(9);
    await using _ = connections;
    const [first, second] = [await lease("acme"), await lease("acme")];
    first[Symbol.dispose]();
    await clock.advance(1_000);
    expect(closed).toEqual([]);
    second[Symbol.dispose]();
    await clock.advance(999);
    (await lease("acme"))[Symbol.dispose]();
    await clock.advance(999);
    expect(closed).toEqual([]);
    await clock.advance(1);
    expect(closed).toEqual(["acme k 1"]);
    expect((await lease("acme")).connection.name).toBe("acme k 2");
  });

  test("are replaced at once when the credentials change while all are in use, once for each tenant", async () => {
    const { closed, connections, lease } = lines(2);
    await using _ = connections;
    const [old] = [await lease("acme", "first"), await lease("globex")];
    const renewed = await lease("acme", "second");
    expect(renewed.connection.name).toBe("acme second 3");
    expect(closed).toEqual([]);
    await expect(lease("acme", "third")).rejects.toThrow(/has 2 connections in use/);
    await expect(lease("initech")).rejects.toThrow(/has 2 connections in use/);
    old[Symbol.dispose]();
    expect((await lease("acme", "third")).connection.name).toBe("acme third 4");
  });

  test("are bounded: the one that is unused for the longest time makes room, or the call fails", async () => {
    const { clock, closed, connections, lease } = lines(2);
    await using _ = connections;
    (await lease("acme"))[Symbol.dispose]();
    (await lease("globex"))[Symbol.dispose]();
    (await lease("acme"))[Symbol.dispose]();
    const third = await lease("initech");
    await clock.advance(0);
    expect(closed).toEqual(["globex k 2"]);
    const again = await lease("acme");
    expect(again.connection.name).toBe("acme k 1");
    await expect(lease("globex")).rejects.toThrow(
      /has 2 connections in use, .* raise max_tenants of the server/,
    );
    third[Symbol.dispose]();
    expect((await lease("globex")).connection.name).toBe("globex k 4");
  });

  test("are replaced when the credentials change, after the calls that use them", async () => {
    const { clock, closed, connections, lease } = lines(9);
    await using _ = connections;
    const old = await lease("acme", "old");
    const other = await lease("acme", "new");
    expect(other.connection.name).toBe("acme new 2");
    await clock.advance(0);
    expect(closed).toEqual([]);
    old[Symbol.dispose]();
    await clock.advance(0);
    expect(closed).toEqual(["acme old 1"]);
    expect((await lease("acme", "new")).connection.name).toBe("acme new 2");
  });

  test("are opened again after they were lost", async () => {
    const { clock, closed, opened, connections, lease } = lines(1);
    await using _ = connections;
    const lost = await lease("acme");
    opened[0]?.lose();
    await clock.advance(0);
    expect(closed).toEqual(["acme k 1"]);
    expect((await lease("acme")).connection.name).toBe("acme k 2");
    lost[Symbol.dispose]();
    expect((await lease("acme")).connection.name).toBe("acme k 2");
  });

  test("that do not open fail the calls that wait, and are tried again by the next", async () => {
    let problem: string | undefined = "no such host";
    const open = () =>
      problem === undefined ? Promise.resolve() : Promise.reject(new Error(problem));
    const { connections, lease } = lines(1, open);
    await using _ = connections;
    const waiting = await Promise.allSettled([lease("acme"), lease("acme")]);
    expect(waiting.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    problem = undefined;
    expect((await lease("acme")).connection.name).toBe("acme k 1");
  });

  test("are all closed at the end, used or not", async () => {
    const { closed, connections, lease } = lines(9);
    await lease("acme");
    (await lease("globex"))[Symbol.dispose]();
    await connections[Symbol.asyncDispose]();
    expect(closed.toSorted()).toEqual(["acme k 1", "globex k 2"]);
    await expect(lease("acme")).rejects.toThrow(/the toolhost ends/);
  });
});
