import { setTimeout as wait } from "node:timers/promises";
import { TestTemporal, temporalPrograms } from "../support/temporal.ts";
import type { ChaosOptions } from "./support/chaos.ts";
import { chaos } from "./support/chaos.ts";
import type { Scene } from "./support/faults.ts";
import { recorded } from "./support/faults.ts";
import type { ChaosReport } from "./report/report.ts";

/** As `chaos`, with a server of Temporal that gives the runs to the workers, and that is killed as well. */
export async function temporalChaos(options: ChaosOptions): Promise<ChaosReport> {
  await using temporal = await TestTemporal.start(await temporalPrograms());
  const kill = async (scene: Scene) => {
    if (scene.busy.has("temporal")) return;
    await recorded(scene, "kill -9", ["temporal"], async () => {
      await temporal.kill();
      await wait(scene.random.between(0, 2_000));
      await temporal.restart();
    });
  };
  const settings = Object.fromEntries(
    Object.entries(temporal.settings).map(([name, value]) => [name, value ?? ""]),
  );
  return await chaos({ ...options, executor: { settings, faults: [["temporal kill", 4, kill]] } });
}
