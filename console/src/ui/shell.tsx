import { Link, Outlet } from "@tanstack/react-router";
import { useState } from "react";
import { signOut } from "../api/session.ts";
import type { IconName } from "./icons.tsx";
import { Icon } from "./icons.tsx";
import { applyTheme, currentTheme, nextTheme } from "./theme.ts";

/** The frame of every screen: navigation, theme, and sign-out. */
export function Shell() {
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
        <NavLink to="/runs" icon="runs" name="Runs" />
        <div className="side-end">
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
    </div>
  );
}

interface NavLinkProps {
  readonly to: "/runs";
  readonly icon: IconName;
  readonly name: string;
}

function NavLink({ to, icon, name }: NavLinkProps) {
  return (
    <Link to={to} className="nav-item" activeProps={{ "aria-current": "page" }}>
      <Icon name={icon} />
      {name}
    </Link>
  );
}

function ThemeButton() {
  const [theme, setTheme] = useState(currentTheme);
  const icon = theme === "light" ? "sun" : theme === "dark" ? "moon" : "system";
  const onClick = () => {
    const next = nextTheme(theme);
    applyTheme(next);
    setTheme(next);
  };
  return (
    <button type="button" className="nav-item" onClick={onClick}>
      <Icon name={icon} />
      {`Theme: ${theme}`}
    </button>
  );
}
