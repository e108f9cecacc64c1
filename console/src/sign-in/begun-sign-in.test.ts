import { expect, test } from "vitest";
import { keepSignIn, takeSignIn } from "./begun-sign-in.ts";

function storage() {
  const items = new Map<string, string>();
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, text: string) => void items.set(key, text),
    removeItem: (key: string) => void items.delete(key),
  };
}

const begun = {
  state: "s",
  nonce: "n",
  verifier: "v",
  returnTo: "/runs?status=error",
  issuer: "https://id.example",
  clientId: "c",
};

test("a sign-in is taken once", () => {
  const stored = storage();
  keepSignIn(stored, begun);
  expect([takeSignIn(stored), takeSignIn(stored)]).toEqual([begun, undefined]);
});

test.each(["//evil.example", "/\\evil.example", "https://evil.example", "", "/sign-in?code=1"])(
  "a sign-in does not lead to %j",
  (returnTo) => {
    const stored = storage();
    keepSignIn(stored, { ...begun, returnTo });
    expect(takeSignIn(stored)?.returnTo).toBe("/");
  },
);

test("what is no sign-in is none", () => {
  for (const text of [
    "{",
    "null",
    "7",
    '{"state":"s"}',
    '{"state":"s","nonce":"n","verifier":"v"}',
  ]) {
    expect(takeSignIn({ getItem: () => text, removeItem: () => undefined })).toBeUndefined();
  }
});
