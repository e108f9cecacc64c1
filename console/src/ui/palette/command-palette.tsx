import type { KeyboardEvent } from "react";
import { useEffect, useId, useRef, useState } from "react";
import type { Destination } from "./use-destinations.ts";
import { useDestinations } from "./use-destinations.ts";

/** A list of where to go, which a text shortens. It works with keys alone. */
export function CommandPalette({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useId();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const shown = useDestinations(text).slice(0, 20);
  const active = Math.min(at, shown.length - 1);
  useEffect(() => dialog.current?.showModal(), []);
  const follow = (destination: Destination | undefined) => {
    if (destination === undefined) return;
    onClose();
    destination.go();
    // The dialog is gone by then. The next Tab begins at what was chosen, and not at the menu.
    requestAnimationFrame(() => document.getElementById("main")?.focus());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt((active + step + shown.length) % Math.max(1, shown.length));
    } else if (event.key === "Enter") {
      event.preventDefault();
      follow(shown[active]);
    }
  };
  return (
    <dialog ref={dialog} className="dialog palette" aria-label="Go to" onClose={onClose}>
      <input
        className="input"
        role="combobox"
        aria-label="Go to"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={shown[active] && `${list}-${active}`}
        placeholder="Screen, agent, or run"
        // The server accepts 256 bytes, of which a character has up to four.
        maxLength={64}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={list} role="listbox" aria-label="Where to go" className="destinations">
        {shown.map((destination, index) => (
          <div
            key={destination.key}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === active}
            tabIndex={-1}
            className="destination"
            onClick={() => follow(destination)}
            onKeyDown={onKeyDown}
          >
            <span className="clip">{destination.name}</span>
            <span className="muted push">{destination.kind}</span>
          </div>
        ))}
      </div>
      {shown.length === 0 && <p className="muted">Nothing has this name.</p>}
    </dialog>
  );
}
