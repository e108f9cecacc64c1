import { wander } from "./explore.ts";
import { approving, cancelling, fresh, messaging, parked, sweeping } from "./scenarios.ts";
const all = {
  everything: fresh(
    { tool: "approved", workers: 2, toolhosts: 2 },
    approving(),
    approving("second"),
    messaging(),
    cancelling,
    sweeping,
  ),
  "everything but cancel": fresh(
    { tool: "approved", workers: 2, toolhosts: 2, isSlow: true },
    approving(),
    approving("second"),
    messaging(),
    sweeping,
  ),
  tools: fresh(
    { tool: "idempotent", workers: 2, toolhosts: 2, isSlow: true },
    messaging(),
    sweeping,
  ),
  plain: fresh({ tool: "plain", workers: 2, toolhosts: 2, isSlow: true }, sweeping),
  "plain cancel": fresh(
    { tool: "plain", workers: 2, toolhosts: 2, isSlow: true },
    cancelling,
    sweeping,
  ),
};
for (const seed of [1, 2, 4])
  for (const [name, scenario] of Object.entries(all)) {
    const at = performance.now();
    try {
      console.log(
        name,
        JSON.stringify(await wander(() => scenario(), { faults: seed + 1, walks: 6000, seed })),
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
