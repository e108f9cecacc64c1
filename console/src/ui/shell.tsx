import { Link, Outlet } from "@tanstack/react-router";
import { useCallback, useRef, useState, useSyncExternalStore } from "react";
import { signOut } from "../api/session.ts";
import { CommandPalette } from "./palette/command-palette.tsx";
import { Icon } from "./icons.tsx";
import { KeysHelp } from "./palette/keys-help.tsx";
import { PendingCount } from "./pending-count.tsx";
import { SignedIn } from "../access/signed-in.tsx";
import { useScreens } from "./palette/use-screens.ts";
import { applyTheme, currentTheme, nextTheme, onThemeChange } from "./theme.ts";
import { useKeys, usePaletteKey } from "./palette/use-keys.ts";

/** The frame of every screen: navigation, keys, theme, and sign-out. */
export function Shell() {
  const help = useRef<HTMLDialogElement>(null);
  const showHelp = useCallback(() => help.current?.showModal(), []);
  useKeys(showHelp);
  const screens = useScreens();
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const togglePalette = useCallback(() => setPaletteOpen((isOpen) => !isOpen), []);
  usePaletteKey(togglePalette);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <nav className="side" aria-label="Screens">
        <Link to="/runs" className="brand">
          <img src="/favicon.svg" alt="" width="24" height="24" />
          Reeve
        </Link>
        {screens.map(({ to, params, icon, name, key }) => (
          <Link key={to} to={to} params={params} className="nav-item" aria-keyshortcuts={key}>
            <Icon name={icon} />
            {name}
            {name === "Inbox" && <PendingCount />}
          </Link>
        ))}
        <div className="side-end">
          <SignedIn />
          <Link to="/passkeys" className="nav-item">
            <Icon name="key" />
            Passkeys
          </Link>
          <button type="button" className="nav-item" onClick={togglePalette}>
            <Icon name="search" />
            Go to …
          </button>
          <button type="button" className="nav-item" onClick={showHelp}>
            <span className="key-mark" aria-hidden="true">
              ?
            </span>
            Keys
          </button>
          <ThemeButton />
          <button type="button" className="nav-item" onClick={() => signOut()}>
            <Icon name="out" />
            Sign out
          </button>
        </div>
      </nav>
      <main id="main" className="main" tabIndex={-1}>
        <Outlet />
      </main>
      <KeysHelp dialog={help} />
      {isPaletteOpen && <CommandPalette onClose={togglePalette} />}
    </div>
  );
}

function ThemeButton() {
  const theme = useSyncExternalStore(onThemeChange, currentTheme);
  const icon = theme === "light" ? "sun" : theme === "dark" ? "moon" : "system";
  const onClick = () => applyTheme(nextTheme(theme));
  return (
    <button type="button" className="nav-item" onClick={onClick}>
      <Icon name={icon} />
      {`Theme: ${theme}`}
    </button>
  );
}
