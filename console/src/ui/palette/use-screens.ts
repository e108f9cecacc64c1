import { AuditService } from "@reeve/contracts/audit";
import { useAccess } from "../../access/use-access.ts";
import type { IconName } from "../icons.tsx";

const screens = [
  { key: "1", to: "/runs", params: {}, icon: "runs", name: "Runs" },
  {
    key: "2",
    to: "/inbox/{-$approvalId}",
    params: { approvalId: undefined },
    icon: "inbox",
    name: "Inbox",
  },
  {
    key: "3",
    to: "/chat/{-$threadId}",
    params: { threadId: undefined },
    icon: "chat",
    name: "Chat",
  },
  {
    key: "4",
    to: "/agents/{-$agentId}",
    params: { agentId: undefined },
    icon: "agents",
    name: "Agents",
  },
  {
    key: "5",
    to: "/workflows/{-$agentId}",
    params: { agentId: undefined },
    icon: "branch",
    name: "Workflows",
  },
  {
    key: "6",
    to: "/triggers/{-$triggerId}",
    params: { triggerId: undefined },
    icon: "clock",
    name: "Triggers",
  },
  { key: "7", to: "/models", params: {}, icon: "models", name: "Models" },
  { key: "8", to: "/operate", params: {}, icon: "operate", name: "Operate" },
  { key: "9", to: "/audit", params: {}, icon: "audit", name: "Audit" },
] as const satisfies readonly {
  key: string;
  to: string;
  params: object;
  icon: IconName;
  name: string;
}[];

/** The screens that the roles of the caller permit, each with the key that opens it. */
export function useScreens(): readonly (typeof screens)[number][] {
  const isAuditHidden = useAccess().whyNot(AuditService.method.listAuditEvents) !== undefined;
  return screens.filter(({ name }) => name !== "Audit" || !isAuditHidden);
}
