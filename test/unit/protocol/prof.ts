import { explore } from "./explore.ts";
import { approving, cancelling, fresh, messaging, parked, sweeping } from "./scenarios.ts";
const F = Number(process.env["F"] ?? 1);
const most = Number(process.env["W"] ?? 5000);
const only = process.env["ONLY"] ?? "";
const all = {
  fresh: fresh({}, sweeping),
  "hitl fresh approve": fresh({ tool: "approved" }, approving()),
  "parked approve sweeping": parked({}, approving(), sweeping),
  "parked approve message": parked({}, approving(), messaging()),
  "parked cancel": parked({}, approving(), cancelling),
  "fresh cancel": fresh({ tool: "plain", workers: 1 }, cancelling),
  "fresh message": fresh({}, messaging()),
  "tool plain 2 hosts": fresh({ tool: "plain", workers: 1, toolhosts: 2 }),
  "tool idempotent 2 hosts": fresh({ tool: "idempotent", workers: 1, toolhosts: 2 }),
  "tool plain 2 workers": fresh({ tool: "plain" }),
};
for (const [name, scenario] of Object.entries(all)) {
  if (!name.includes(only)) continue;
  const at = performance.now();
  try {
    console.log(
      name,
      JSON.stringify(await explore(() => scenario(), { faults: F, worlds: most })),
      Math.round(performance.now() - at),
    );
  } catch (error) {
    console.log(
      name,
      "FAILED",
      Math.round(performance.now() - at),
      error instanceof Error ? error.message : error,
    );
  }
}
process.exit(0);
