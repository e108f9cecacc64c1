import { auditContract } from "../../test/support/audit-contract.ts";
import { MemoryAuditTrail } from "./memory.ts";

auditContract(() => Promise.resolve(new MemoryAuditTrail()));
