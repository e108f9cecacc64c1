import { expect, test } from "vitest";
import { delegateOrder, reachableFrom } from "./delegate-order.ts";

const caller = (id: string, ...delegates: string[]) => ({ id, delegates });

test("an agent follows all that it can reach, else the order stays", () => {
  const agents = [caller("a", "c"), caller("b"), caller("c", "d"), caller("d")];
  expect(delegateOrder(agents, [])).toEqual(["d", "c", "a", "b"]);
});

test("an agent follows those that it reaches through agents that are not ordered", () => {
  const agents = [caller("a", "stored"), caller("b")];
  expect(delegateOrder(agents, [caller("stored", "b")])).toEqual(["b", "a"]);
});

test("cycles and unknown delegates end", () => {
  const agents = [caller("a", "b", "nobody"), caller("b", "a")];
  expect(delegateOrder(agents, [])).toEqual(["b", "a"]);
  const byId = new Map(agents.map((agent) => [agent.id, agent]));
  expect(reachableFrom("a", byId)).toEqual(["b", "nobody"]);
});

test("a chain of ten thousand agents has an order", () => {
  const agents = Array.from({ length: 10_000 }, (_, n) => caller(`a${n}`, `a${n + 1}`));
  expect(delegateOrder(agents, [])[0]).toBe("a9999");
});
