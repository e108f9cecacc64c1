import { expect, test } from "vitest";
import { SignIns } from "./sign-ins.ts";

const caller = (tokenId: string, subject = "ann") =>
  ({ tenant: "acme", subject, roles: new Set([]), kind: "oidc", tokenId }) as const;

test("the first use of each credential is a sign-in", () => {
  const signIns = new SignIns();
  const uses = [caller("1"), caller("1"), caller("2"), caller("1", "bob"), caller("2")];
  expect(uses.map((each) => signIns.isFirst(each))).toEqual([true, false, true, true, false]);
});

test("of too many credentials, the one that was not used for the longest time is forgotten", () => {
  const signIns = new SignIns();
  signIns.isFirst(caller("forgotten"));
  signIns.isFirst(caller("used"));
  for (let other = 0; other < 9_998; other++) signIns.isFirst(caller(String(other)));
  expect(signIns.isFirst(caller("used"))).toBe(false);
  signIns.isFirst(caller("one more"));
  expect(signIns.isFirst(caller("used"))).toBe(false);
  expect(signIns.isFirst(caller("forgotten"))).toBe(true);
});
