import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allAttacks } from "./attacks/all-attacks.ts";
import type { HostTraps } from "./support/host-traps.ts";
import { hostTraps, workspaces } from "./support/host-traps.ts";
import { unprotectedIdentity } from "./support/identities.ts";
import { withoutBoundary } from "./support/without-boundary.ts";

const resources = new AsyncDisposableStack();
let traps: HostTraps;

beforeAll(async () => {
  traps = await hostTraps(unprotectedIdentity, resources);
});

afterAll(() => resources.disposeAsync());

describe.each(["outside", "namespace"] as const)("without a boundary, %s", (where) => {
  const attacks = allAttacks.filter(({ control }) => control.where === where);
  let outcomes: Awaited<ReturnType<typeof withoutBoundary>>;

  beforeAll(async () => {
    const own = await workspaces(unprotectedIdentity, resources);
    const given = { ...traps, ...own, first: 0 };
    outcomes = await withoutBoundary(where, attacks, given, unprotectedIdentity);
  });

  test.for(attacks)("$id does harm", ({ id, control }, { skip }) => {
    const { except = [], differs } = control;
    const found = Object.entries(outcomes[id] ?? { all: "broken: not tried" });
    const harmless = found.filter(([way, outcome]) => outcome !== "harm" && !except.includes(way));
    const broken = found.filter(([, outcome]) => outcome.startsWith("broken"));
    expect(Object.fromEntries(broken)).toEqual({});
    skip(differs !== undefined && harmless.length > 0, `this machine refuses it: ${differs}`);
    expect(Object.fromEntries(harmless)).toEqual({});
  });
});
