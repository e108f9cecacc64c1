import type { TemporalPrograms } from "../../support/temporal.ts";
import { TestTemporal } from "../../support/temporal.ts";
import type { Backend } from "./backend.ts";
import { natsBackend } from "./nats-backend.ts";

/** The four services over JetStream, with a server of Temporal that gives the runs to the runtime. */
export async function temporalBackend(programs: TemporalPrograms): Promise<Backend> {
  await using opening = new AsyncDisposableStack();
  const temporal = opening.use(await TestTemporal.start(programs));
  const backend = opening.use(await natsBackend(temporal.settings));
  const resources = opening.move();
  return {
    run: (scenario) => backend.run(scenario),
    refuse: (start) => backend.refuse(start),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
