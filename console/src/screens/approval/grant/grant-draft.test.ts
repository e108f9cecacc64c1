import { GrantScope } from "@reeve/contracts/approval";
import { expect, test } from "vitest";
import { readGrantDraft } from "./grant-draft.ts";

test("a rule that a person writes is read with its limits", () => {
  const written = { rule: " git(status) ", scope: GrantScope.RUN, uses: "5", hours: "0.5" };
  expect(readGrantDraft(written)).toMatchObject({
    rule: "git(status)",
    maxUses: 5,
    lifetime: { seconds: 1_800n },
  });
  for (const wrong of [
    { uses: "" },
    { uses: "1.5" },
    { uses: "1001" },
    { hours: "0" },
    { hours: "721" },
    { rule: " " },
  ]) {
    expect(readGrantDraft({ ...written, ...wrong })).toBeUndefined();
  }
});
