import { expect, test } from "vitest";
import { maxViews, readViews, storeViews, viewsKey, withView } from "./stored-views.ts";

const named = (name: string) => ({ name, search: {} });
const holding = (text: string | null) => ({ getItem: () => text });

test("what is stored is read as views, whatever it is", () => {
  const view = { name: "mine", search: { user: "ann" } };
  const stored = [view, null, 1, { name: "" }, { name: "x".repeat(99), search: {} }, { name: "a" }];
  expect(readViews(holding(JSON.stringify(stored)), "key")).toEqual([view]);
  for (const text of [null, "{", "{}", "7"]) expect(readViews(holding(text), "key")).toEqual([]);
});

test("a view replaces one of the same name, and the oldest of too many is removed", () => {
  const replaced = withView([named("a"), named("b")], { name: "a", search: { user: "ann" } });
  expect(replaced).toEqual([named("b"), { name: "a", search: { user: "ann" } }]);
  const full = Array.from({ length: maxViews }, (_, index) => named(String(index)));
  expect(withView(full, named("new"))).toEqual([...full.slice(1), named("new")]);
});

test("people of two tenants with the same name have different views", () => {
  const keys = [
    { tenant: "a", subject: "b.c" },
    { tenant: "a.b", subject: "c" },
  ].map(viewsKey);
  expect(new Set(keys).size).toBe(2);
});

function refuse(): never {
  throw new DOMException("full", "QuotaExceededError");
}

test("a browser that stores nothing is no crash, and the person is told", () => {
  const stored = new Map<string, string>();
  const setItem = (key: string, text: string) => void stored.set(key, text);
  expect(storeViews({ setItem }, "key", [named("a")])).toBeUndefined();
  expect(readViews({ getItem: (key) => stored.get(key) ?? null }, "key")).toEqual([named("a")]);
  expect(storeViews({ setItem: refuse }, "key", [])).toContain("does not store views");
});
