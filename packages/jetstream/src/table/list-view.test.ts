import type { Agent } from "@reeve/contracts/agent";
import { AgentSchema } from "@reeve/contracts/agent";
import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { listContract } from "../../test/support/list-contract.ts";
import { ListView } from "./list-view.ts";
import { MemoryTable } from "./memory.ts";
import type { Table } from "./port.ts";

const never = new AbortController().signal;
const table = new MemoryTable<Agent>();
listContract("memory", () => table);

test("a list whose watch fails is read from the store, and the next list opens the watch again", async () => {
  const known = new MemoryTable<Agent>();
  await known.put("acme.a", create(AgentSchema, { spec: { name: "a" } }), never);
  let watches = 0;
  const breaking: Pick<Table<Agent>, "watch"> = {
    async *watch(prefix, signal) {
      if (++watches === 1) throw new Failure("unavailable", ErrorReason.UNAVAILABLE, "down");
      yield* known.watch(prefix, signal);
    },
  };
  const fragile = new Proxy(known, {
    get: (target, name) => {
      const of = name === "watch" ? breaking : target;
      const value: unknown = Reflect.get(of, name);
      return typeof value === "function" ? value.bind(of) : value;
    },
  });
  const options = {
    facetOf: () => undefined,
    orderOf: ({ spec }: Agent) => spec?.name ?? "",
    direction: "ascending",
  } as const;
  const view = new ListView(fragile, AgentSchema, options, never);
  for (const expectedWatches of [1, 2, 2]) {
    const { items } = await view.page("acme", { pageSize: 9, pageToken: "" }, () => true, never);
    expect(items.map(({ spec }) => spec?.name)).toEqual(["a"]);
    expect(watches).toBe(expectedWatches);
  }
});

const nameOf = ({ spec }: Agent) => spec?.name ?? "";

/** Counts how often all of its records were read. */
class CountingTable extends MemoryTable<Agent> {
  listed = 0;

  override list(prefix: string, signal: AbortSignal) {
    this.listed += 1;
    return super.list(prefix, signal);
  }
}

test("a view holds records up to its limit of bytes, by their latest size, and none beyond", async () => {
  const known = new CountingTable();
  const put = (name: string, bytes: number) =>
    known.put(
      `acme.${name}`,
      create(AgentSchema, { spec: { name, model: "m".repeat(bytes) } }),
      never,
    );
  const options = { facetOf: () => undefined, orderOf: nameOf, direction: "ascending" } as const;
  const view = new ListView(known, AgentSchema, { ...options, maxBytes: 2_500 }, never);
  const names = async () => {
    const request = { pageSize: 9, pageToken: "" };
    const { items } = await view.page("acme", request, () => true, never);
    return items.map(nameOf).join(" ");
  };
  await put("a", 1_000);
  for (let time = 0; time < 5; time++) {
    await put("b", 1_000 + time);
    expect(await names()).toBe("a b");
  }
  await known.delete("acme.a", never);
  expect(await names()).toBe("b");
  await put("c", 1_000);
  expect(await names()).toBe("b c");
  expect(known.listed).toBe(0);
  await put("d", 1_000);
  expect(await names()).toBe("b c d");
  expect(known.listed).toBe(1);
});
