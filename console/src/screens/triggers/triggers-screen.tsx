import { getRouteApi } from "@tanstack/react-router";
import { NewTrigger } from "./new-trigger.tsx";
import { TriggerList } from "./trigger-list.tsx";
import { TriggerView } from "./trigger-view.tsx";
import "../../styles/triggers.css";

const route = getRouteApi("/triggers/{-$triggerId}");

/** What starts runs by itself: the triggers of the tenant, or one of them. */
export function TriggersScreen() {
  const { triggerId } = route.useParams();
  const { create } = route.useSearch();
  if (triggerId !== undefined) return <TriggerView key={triggerId} triggerId={triggerId} />;
  return create === true ? <NewTrigger /> : <TriggerList />;
}
