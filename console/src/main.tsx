import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { currentSession, takeTokenFromAddress } from "./api/session.ts";
import { App } from "./app.tsx";
import { loadScreen } from "./router.tsx";
import { takeReturnedAddress } from "./sign-in/returned-address.ts";
import { applyTheme } from "./ui/theme.ts";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/shell.css";
import "./styles/tables.css";

// Before anything else: the token must not stay in the address bar.
takeTokenFromAddress(window.location, window.history);
// A link that differs in its fragment only does not load the page again.
window.addEventListener("hashchange", () => {
  takeTokenFromAddress(window.location, window.history);
});
applyTheme();

const returned = takeReturnedAddress(window.location, window.history);

// The chunk of the screen is loaded while the page is rendered for the first time.
if (currentSession().token !== undefined && returned === undefined) {
  loadScreen();
}

const container = document.getElementById("root");
if (container !== null) {
  createRoot(container).render(
    <StrictMode>
      <App returned={returned} />
    </StrictMode>,
  );
}
