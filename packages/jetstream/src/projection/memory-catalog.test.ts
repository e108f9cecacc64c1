import { catalogContract } from "../../test/support/catalog-contract.ts";
import { memoryRunLog } from "../log/memory.ts";
import { memoryLogCatalog } from "./memory-catalog.ts";

catalogContract("in memory", () => {
  const log = memoryRunLog();
  return Promise.resolve({ log, catalog: memoryLogCatalog(log) });
});
