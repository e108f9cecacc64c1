import type { Workflow } from "@reeve/contracts/extensions/workflow";
import { useCallback, useMemo, useState } from "react";
import type { Place } from "../../../workflow/graph/layout.ts";
import { placesOf } from "../../../workflow/graph/layout.ts";
import type { NodePorts } from "../../../workflow/graph/node-ports.ts";
import { portsOf } from "../../../workflow/graph/node-ports.ts";
import { placesKey, readPlaces, storePlaces } from "../../../workflow/graph/stored-places.ts";
import type { TypeOf } from "../../../workflow/node-types.ts";

interface Places {
  readonly ports: ReadonlyMap<string, NodePorts>;
  readonly places: ReadonlyMap<string, Place>;
  readonly move: (places: ReadonlyMap<string, Place>) => void;
  /** Forgets the places that a person gave. */
  readonly tidy: () => void;
}

/** Places the nodes: where a person has put them in this browser, or else in layers. */
export function usePlaces(agentId: string, graph: Workflow, typeOf: TypeOf): Places {
  const key = placesKey(agentId);
  const [given, setGiven] = useState(() => readPlaces(localStorage, key));
  const ports = useMemo(() => portsOf(graph, typeOf), [graph, typeOf]);
  const automatic = useMemo(() => placesOf(graph, ports), [graph, ports]);
  const places = useMemo(() => new Map([...automatic, ...given]), [automatic, given]);
  const move = useCallback(
    (moved: ReadonlyMap<string, Place>) => {
      setGiven((before) => {
        const next = new Map([...before, ...moved]);
        storePlaces(localStorage, key, next);
        return next;
      });
    },
    [key],
  );
  const tidy = useCallback(() => {
    storePlaces(localStorage, key, new Map());
    setGiven(new Map());
  }, [key]);
  return { ports, places, move, tidy };
}
