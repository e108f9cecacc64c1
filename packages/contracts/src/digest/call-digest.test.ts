import * as fc from "fast-check";
import { expect, test } from "vitest";
import { callDigest } from "./call-digest.ts";
import { canonicalJson } from "./canonical-json.ts";

test("canonical JSON has sorted keys and no spaces, and means the same", () => {
  expect(canonicalJson({ b: [1, 1e21, -0, null], a: { "\u20ac": "\r", "1": true } })).toBe(
    '{"a":{"1":true,"\u20ac":"\\r"},"b":[1,1e+21,0,null]}',
  );
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain = JSON.parse(JSON.stringify(value)) as typeof value;
      expect(JSON.parse(canonicalJson(plain as never))).toEqual(plain);
    }),
  );
});

test("the digest of a call depends on the agent, its revision, the tool, and the arguments, and not on their order", () => {
  const agent = { agentId: "payer", agentRevision: 3 };
  const call = { name: "pay", arguments: { to: "ann", amount: 5 } };
  const digest = callDigest(call, agent);
  // Computed with another implementation, so that the definition does not change unnoticed.
  expect(digest).toBe("15bfb4c3aa5ab43012de6041a506aa87236d4a3d0744c491332f339dc3fd6143");
  expect(callDigest({ ...call, arguments: { amount: 5, to: "ann" } }, agent)).toBe(digest);
  const others = [
    callDigest({ ...call, name: "refund" }, agent),
    callDigest({ ...call, arguments: { to: "ann", amount: 6 } }, agent),
    callDigest(call, { ...agent, agentRevision: 4 }),
    callDigest(call, { ...agent, agentId: "other" }),
  ];
  expect(new Set([digest, ...others]).size).toBe(5);
});
