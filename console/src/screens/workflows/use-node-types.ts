import { useQuery } from "@connectrpc/connect-query";
import type { NodeType } from "@reeve/contracts/extensions/workflow";
import { WorkflowService } from "@reeve/contracts/extensions/workflow";
import { useMemo } from "react";
import type { TypeOf } from "../../workflow/node-types.ts";
import { readTypes } from "../../workflow/node-types.ts";

interface NodeTypes {
  readonly listed: readonly NodeType[];
  readonly typeOf: TypeOf;
  /** Undefined: they are read, or being read. */
  readonly error: unknown;
  readonly isPending: boolean;
}

const noTypes: readonly NodeType[] = [];

/** Returns the registry of nodes: all types that the deployment offers to the caller. */
export function useNodeTypes(): NodeTypes {
  const { data, error, isPending } = useQuery(
    WorkflowService.method.listNodeTypes,
    { pageSize: 1_000 },
    { staleTime: 30_000 },
  );
  const listed = data?.nodeTypes ?? noTypes;
  const typeOf = useMemo(() => readTypes(listed), [listed]);
  return { listed, typeOf, error: error ?? undefined, isPending };
}
