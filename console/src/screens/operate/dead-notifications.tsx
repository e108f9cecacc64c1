import { useInfiniteQuery, useMutation } from "@connectrpc/connect-query";
import type { DeadNotification } from "@reeve/contracts/notification";
import { NotificationService } from "@reeve/contracts/notification";
import { problemOf } from "../../api/problem.ts";
import { msOf } from "../../format/time.ts";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Ago } from "../../ui/times.tsx";

/** The notifications that no receiver accepted, with a way to send each again. Operators only. */
export function DeadNotifications() {
  const query = useInfiniteQuery(
    NotificationService.method.listDeadNotifications,
    { pageSize: 50, pageToken: "" },
    {
      pageParamKey: "pageToken",
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
    },
  );
  const dead = query.data?.pages.flatMap((page) => page.notifications) ?? [];
  if (query.error !== null) {
    return <ProblemView problem={problemOf(query.error)} onRetry={() => void query.refetch()} />;
  }
  if (query.isSuccess && dead.length === 0) return <p className="muted">None.</p>;
  return (
    <>
      <ul className="dead">
        {dead.map((each) => (
          <Dead
            key={each.notification?.notificationId}
            dead={each}
            onReplayed={() => void query.refetch()}
          />
        ))}
      </ul>
      {query.hasNextPage && (
        <button type="button" className="button wide" onClick={() => void query.fetchNextPage()}>
          Show more
        </button>
      )}
    </>
  );
}

interface DeadProps {
  readonly dead: DeadNotification;
  readonly onReplayed: () => void;
}

function Dead({ dead: { notification, problem, attempts, givenUpAt }, onReplayed }: DeadProps) {
  const replay = useMutation(NotificationService.method.replayNotification);
  const notificationId = notification?.notificationId ?? "";
  return (
    <li className="card">
      <span className="row">
        <strong>{notification?.receiver}</strong>
        <span className="mono">{notificationId}</span>
        <span className="muted">
          given up <Ago ms={msOf(givenUpAt)} /> after {attempts} attempts
        </span>
        <button
          type="button"
          className="button push"
          disabled={replay.isPending}
          onClick={() => replay.mutate({ notificationId }, { onSuccess: onReplayed })}
        >
          Send again
        </button>
      </span>
      <p className="bad">{problem}</p>
      {replay.error !== null && <ProblemView problem={problemOf(replay.error)} />}
    </li>
  );
}
