import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import type { CountRunsResponse, RunFilterSchema } from "@reeve/contracts/run";
import { RunService } from "@reeve/contracts/run";

interface CountOptions {
  readonly intervalMs: number;
  /** Counting reads up to 10,000 runs: it must not delay the list. */
  readonly isListShown: boolean;
}

/** The newest runs that match, by status and by time, once the list is shown. Read again every 10 seconds. */
export function useRunCounts(
  filter: MessageInitShape<typeof RunFilterSchema>,
  { intervalMs, isListShown }: CountOptions,
): CountRunsResponse | undefined {
  return useQuery(
    RunService.method.countRuns,
    { filter, interval: durationFromMs(intervalMs) },
    {
      enabled: isListShown,
      refetchInterval: 10_000,
      staleTime: 5_000,
      placeholderData: (previous) => previous,
    },
  ).data;
}
