import { describe, expect, test } from "vitest";
import { parsePolicyFile } from "../policy/policy-file.ts";
import { permits, waitMsOf } from "./approval-times.ts";
import { freezesAt } from "./freezes-at.ts";

const call = { tenant: "acme", agentId: "buyer", tool: "pay" };

function timesOf(section: string) {
  return parsePolicyFile(`rules: []\napprovals:\n${section}`, "policy.yaml").approvals;
}

/** Returns the freeze of a call at an instant, with its end as a text. */
function frozen(section: string, instant: string, of = call) {
  const freeze = freezesAt(timesOf(section)?.freezes ?? [], Date.parse(instant))(of);
  if (freeze === undefined) return undefined;
  const { name, endsAtMs } = freeze;
  return [name, endsAtMs === undefined ? undefined : new Date(endsAtMs).toISOString()];
}

const yearEnd = `
  freezes:
    - name: year-end
      tools: ["pay*"]
      from: 2026-12-20T00:00:00+01:00
      until: 2027-01-03T00:00:00Z`;

describe("a freeze with a start and an end", () => {
  test.each([
    ["2026-12-19T22:59:59.999Z", undefined],
    ["2026-12-19T23:00:00Z", ["year-end", "2027-01-03T00:00:00.000Z"]],
    ["2027-01-02T23:59:59.999Z", ["year-end", "2027-01-03T00:00:00.000Z"]],
    ["2027-01-03T00:00:00Z", undefined],
  ])("applies from its start until its end: %s", (instant, expected) => {
    expect(frozen(yearEnd, instant)).toEqual(expected);
  });

  test("applies to the calls that it selects", () => {
    const christmas = "2026-12-24T12:00:00Z";
    expect(frozen(yearEnd, christmas, { ...call, tool: "read" })).toBeUndefined();
    const ofOthers = yearEnd.replace('tools: ["pay*"]', "tenants: [globex]\n      agents: [buyer]");
    expect(frozen(ofOthers, christmas)).toBeUndefined();
    expect(frozen(ofOthers, christmas, { ...call, tenant: "globex" })).toHaveLength(2);
    expect(frozen(ofOthers, christmas, { tenant: "globex", agentId: "x", tool: "pay" })).toBe(
      undefined,
    );
  });
});

const nights = `
  freezes:
    - name: nights
      weekly:
        time_zone: Europe/Berlin
        windows:
          - { days: [sun, mon, tue, wed, thu, fri, sat], from: "22:00", until: "24:00" }
          - { days: [sun, mon, tue, wed, thu, fri, sat], from: "00:00", until: "06:00" }`;

describe("a weekly freeze", () => {
  test.each([
    ["2026-01-14T20:59:59Z", undefined],
    ["2026-01-14T21:00:00Z", "2026-01-15T05:00:00.000Z"],
    ["2026-07-14T20:00:00Z", "2026-07-15T04:00:00.000Z"],
    // The nights of the clock changes have seven and nine hours.
    ["2026-03-28T21:00:00Z", "2026-03-29T04:00:00.000Z"],
    ["2026-10-24T20:00:00Z", "2026-10-25T05:00:00.000Z"],
  ])("follows the local time, over midnight and over clock changes: %s", (instant, end) => {
    expect(frozen(nights, instant)?.[1]).toBe(end);
  });

  test("applies on its days", () => {
    const weekend = nights
      .replaceAll("[sun, mon, tue, wed, thu, fri, sat]", "[fri]")
      .replace("Europe/Berlin", "UTC");
    expect(frozen(weekend, "2026-01-16T23:00:00Z")).toEqual(["nights", "2026-01-17T00:00:00.000Z"]);
    expect(frozen(weekend, "2026-01-15T23:00:00Z")).toBeUndefined();
  });
});

const once = (name: string, from: string, until: string) =>
  `    - { name: ${name}, from: "2026-01-01T${from}:00Z", until: "2026-01-01T${until}:00Z" }\n`;

const half = (name: string, from: string, until: string, { zone = "UTC", of = "" } = {}) =>
  `    - { name: ${name}, ${of}weekly: { time_zone: ${zone}, windows: [{ days: [sun, mon, tue, wed, thu, fri, sat], from: "${from}", until: "${until}" }] } }\n`;

describe("freezes that overlap or follow on each other", () => {
  test("end together, and have the name of the one of now that ends last", () => {
    const section = `  freezes:\n${once("a", "08:00", "10:00")}${once("b", "09:00", "12:00")}${once("c", "12:00", "13:00")}`;
    expect(frozen(section, "2026-01-01T08:30:00Z")).toEqual(["a", "2026-01-01T13:00:00.000Z"]);
    expect(frozen(section, "2026-01-01T09:30:00Z")).toEqual(["b", "2026-01-01T13:00:00.000Z"]);
  });

  test("have no known end if together they leave no gap", () => {
    const section = `  freezes:\n${half("am", "00:00", "12:00")}${half("pm", "12:00", "24:00", { zone: "Etc/UTC" })}`;
    expect(frozen(section, "2026-01-01T08:30:00Z")).toEqual(["am", undefined]);
    expect(frozen(section, "2026-01-01T12:00:00Z")).toEqual(["pm", undefined]);
  });

  test("are refused if together they cover the week of the same calls", () => {
    const am = half("am", "00:00", "12:00");
    const pays = { of: "tools: [pay, refund], " };
    const refused = [
      half("pm", "12:00", "24:00"),
      half("pm", "12:00", "24:00", pays),
      `${half("x", "12:00", "18:00")}${half("pm", "18:00", "24:00", pays)}`,
    ];
    for (const other of refused) {
      expect(() => timesOf(`  freezes:\n${am}${other}`)).toThrow("together cover the whole week");
    }
    const ofPays = half("am", "00:00", "12:00", pays);
    const ofOthers = half("pm", "12:00", "24:00", { of: "tools: [send], " });
    expect(timesOf(`  freezes:\n${ofPays}${ofOthers}`)?.freezes).toHaveLength(2);
    expect(timesOf(`  freezes:\n${am}${half("pm", "12:01", "24:00")}`)?.freezes).toHaveLength(2);
  });

  test("of a long period and of weeks after it end with the last of them", () => {
    const long = `    - { name: long, from: "2026-01-01T00:00:00Z", until: "2026-03-01T22:00:00Z" }\n`;
    const section = `  freezes:\n${long}${half("night", "22:00", "24:00")}`;
    expect(frozen(section, "2026-01-02T08:30:00Z")).toEqual(["long", "2026-03-02T00:00:00.000Z"]);
    expect(frozen(section, "2026-01-03T08:30:00Z")).toEqual(["long", "2026-03-02T00:00:00.000Z"]);
  });
});

test("of the waits that select a call, the longest counts", () => {
  const times = timesOf(
    `  waits: [{ name: a, wait: 90s }, { name: b, tools: [pay], wait: 2h }, { name: c, tools: [x], wait: 3d }]`,
  );
  expect(waitMsOf(times, call)).toBe(7_200_000);
  expect(waitMsOf(times, { ...call, tool: "read" })).toBe(90_000);
  expect(waitMsOf(undefined, call)).toBe(0);
});

test("a rule holds for a delegate that it names and for the delegates of an agent that it names, and permits neither alone", () => {
  const times = timesOf("  waits: [{ name: a, agents: [payer], wait: 90s }]");
  const [rule] = times?.waits ?? [];
  if (rule === undefined) throw new Error("there is no rule");
  const called = { ...call, delegateId: "payer" };
  expect(waitMsOf(times, call)).toBe(0);
  expect(waitMsOf(times, called)).toBe(90_000);
  expect(waitMsOf(times, { ...called, agentId: "payer", delegateId: "buyer" })).toBe(90_000);
  expect(permits(rule, called)).toBe(false);
  expect(permits(rule, { ...called, agentId: "payer" })).toBe(true);
});

const window = (fields: string) =>
  `  freezes: [{ name: a, weekly: { time_zone: UTC, windows: [{ ${fields} }] } }]`;

test.each([
  ["  freezes: [{ name: a, from: 2026-01-01T00:00:00Z }]", "until", "must have an end"],
  ["  freezes: [{ name: a, until: 2026-01-01T00:00:00Z }]", "from", "is missing"],
  [
    "  freezes: [{ name: a, from: 2026-01-02T00:00:00Z, until: 2026-01-01T00:00:00Z }]",
    "until",
    "is not after from",
  ],
  [
    "  freezes: [{ name: a, from: 2026-01-01T00:00:00Z, until: 2026-01-01T00:00:00Z }]",
    "until",
    "is not after from",
  ],
  [
    "  freezes: [{ name: a, from: 2026-01-01T00:00:00, until: 2026-01-02T00:00:00Z }]",
    "from",
    "offset from UTC",
  ],
  [
    "  freezes: [{ name: a, from: 2026-02-30T00:00:00Z, until: 2026-03-02T00:00:00Z }]",
    "from",
    "offset from UTC",
  ],
  ["  freezes: [{ name: a }]", "from", "add from and until, or weekly"],
  [
    "  freezes: [{ name: a, weekly: { time_zone: Europe/Berln, windows: [] } }]",
    "weekly.time_zone",
    "no time zone",
  ],
  [
    window('days: [mun], from: "08:00", until: "09:00"'),
    "weekly.windows[0].days[0]",
    "did you mean",
  ],
  [
    window('days: [mon], from: "22:00", until: "06:00"'),
    "weekly.windows[0].until",
    "over midnight is two",
  ],
  [
    window('days: [mon], from: "08:00", until: "24:01"'),
    "weekly.windows[0].until",
    "00:00 to 24:00",
  ],
  [
    window('days: [mon, tue, wed, thu, fri, sat, sun], from: "00:00", until: "24:00"'),
    "weekly.windows",
    "cover the whole week",
  ],
  ["  waits: [{ name: a, wait: 0s }]", "waits[0].wait", "at most 30d"],
  ["  waits: [{ name: a, wait: -5m }]", "waits[0].wait", "at most 30d"],
  ["  waits: [{ name: a, wait: 31d }]", "waits[0].wait", "at most 30d"],
  ["  waits: [{ name: a, wait: 1m }, { name: a, wait: 2m }]", "waits[1].name", "earlier entry"],
  ["  waits: [{ name: a, wait: 1m, tolls: [x] }]", "waits[0].tolls", "did you mean tools"],
  ["  waits: []", "approvals", "has no effect"],
  ["  break_glass: [{ name: a }]", "break_glass[0]", "names nobody"],
  ['  break_glass: [{ name: a, groups: ["role:boss"] }]', "break_glass[0].groups[0]", "no role"],
  ["  break_glass: [{ name: a, people: [x], min_reason_length: 0 }]", "min_reason_length", "1"],
])("a policy is refused with %s", (section, field, problem) => {
  expect(() => timesOf(section)).toThrow(field);
  expect(() => timesOf(section)).toThrow(problem);
});
