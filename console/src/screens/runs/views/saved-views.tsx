import { Link } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { useState } from "react";
import { useAccess } from "../../../access/use-access.ts";
import { Icon } from "../../../ui/icons.tsx";
import type { RunsSearch } from "../runs-search.ts";
import { readRunsSearch } from "../runs-search.ts";
import type { SavedView } from "./stored-views.ts";
import { maxNameLength, readViews, storeViews, viewsKey, withView } from "./stored-views.ts";

/** The views that the person has saved in this browser, and a way to save the filters that are shown. */
export function SavedViews({ search }: { readonly search: RunsSearch }) {
  const { caller } = useAccess();
  if (caller === undefined) return null;
  const key = viewsKey(caller);
  return <ViewsOf key={key} storageKey={key} search={search} />;
}

interface ViewsOfProps {
  readonly storageKey: string;
  readonly search: RunsSearch;
}

function ViewsOf({ storageKey, search }: ViewsOfProps) {
  const [views, setViews] = useState(() => readViews(localStorage, storageKey));
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<string>();
  const store = (next: readonly SavedView[]) => {
    setProblem(storeViews(localStorage, storageKey, next));
    setViews(next);
  };
  const isFiltered = Object.keys(search).length > 0;
  const isShown = ({ search: saved }: SavedView) =>
    JSON.stringify(saved) === JSON.stringify(readRunsSearch({ ...search }));
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "") return;
    store(withView(views, { name: name.trim(), search }));
    setName("");
  };
  if (views.length === 0 && !isFiltered) return null;
  return (
    <div className="views" role="group" aria-label="Saved views">
      {views.map((view) => (
        <span key={view.name} className="view">
          <Link
            to="/runs"
            search={view.search}
            className="chip small"
            aria-current={isShown(view) ? "true" : undefined}
          >
            {view.name}
          </Link>
          <button
            type="button"
            className="icon-button"
            aria-label={`Remove the view ${view.name}`}
            onClick={() => store(views.filter((each) => each !== view))}
          >
            <Icon name="cross" />
          </button>
        </span>
      ))}
      {isFiltered && (
        <form className="row" onSubmit={save}>
          <input
            className="input narrow"
            aria-label="Name of the view"
            placeholder="Name of a view"
            maxLength={maxNameLength}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <button type="submit" className="button" disabled={name.trim() === ""}>
            Save view
          </button>
        </form>
      )}
      {problem !== undefined && (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
