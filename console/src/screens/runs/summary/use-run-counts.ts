import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import type { CountRunsResponse, RunFilterSchema } from "@reeve/contracts/run";
import { RunService } from "@reeve/contracts/run";

/** The newest runs that match, by status and by time. Read again every 10 seconds: counting reads up to 10,000 runs. */
export function useRunCounts(
  filter: MessageInitShape<typeof RunFilterSchema>,
  intervalMs: number,
): CountRunsResponse | undefined {
  return useQuery(
    RunService.method.countRuns,
    { filter, interval: durationFromMs(intervalMs) },
    { refetchInterval: 10_000, staleTime: 5_000, placeholderData: (previous) => previous },
  ).data;
}
