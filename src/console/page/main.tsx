/** The page: begins here. It signs in, follows the host, and shows the view that the address names. */
import { useSignal } from "@preact/signals";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { follow, signIn, takeCodes } from "./connection.ts";
import { Command, Empty, T } from "./parts.tsx";
import { followAddress, go, href, route } from "./route.ts";
import { approvals, away, connection, dropped, hostId, mayAct, missed, scopes, stats } from "./store.ts";
import { count } from "./text.ts";
import { Approvals } from "./views/approvals.tsx";
import { Incidents, Logs } from "./views/incidents.tsx";
import { Measurements } from "./views/measurements.tsx";
import { Overview } from "./views/overview.tsx";
import { Plugin } from "./views/plugin.tsx";
import { Plugins } from "./views/plugins.tsx";
import { Run } from "./views/run.tsx";
import { Runs } from "./views/runs.tsx";

const TABS = [
  ["overview", "Overview"],
  ["runs", "Runs"],
  ["approvals", "Approvals"],
  ["plugins", "Plugins"],
  ["measurements", "Measurements"],
  ["incidents", "Incidents"],
  ["logs", "Logs"],
] as const;

function App() {
  const isHelped = useSignal(false);
  useEffect(() => {
    const key = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape") {
        if (isHelped.value) isHelped.value = false;
        else if (isTyping) event.target.blur();
        else if (route.value.view === "run" || route.value.id !== "") history.back();
      } else if (isTyping) return;
      else if (event.key === "?") isHelped.value = !isHelped.value;
      else if (event.key === "/") {
        document.querySelector<HTMLElement>("#find")?.focus();
        event.preventDefault();
      } else if (event.key === "j" || event.key === "k") document.querySelector<HTMLElement>(".list")?.focus();
      else if (TABS[Number(event.key) - 1]) go(href(TABS[Number(event.key) - 1]![0]));
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [isHelped]);
  const { view } = route.value;
  const current = view === "run" ? "runs" : view;
  useEffect(() => {
    const waiting = approvals.value.length;
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}Creel`;
  }, [approvals.value.length]);
  return (
    <>
      <nav>
        <a class="brand" href={href("overview")}>
          Creel
        </a>
        {TABS.map(([name, text]) => (
          <a key={name} href={href(name)} aria-current={current === name ? "page" : undefined}>
            {text}
            {name === "approvals" && approvals.value.length > 0 && <b class="count">{approvals.value.length}</b>}
          </a>
        ))}
        <State />
      </nav>
      <Banner />
      {/* Another view begins at its top. */}
      <main key={`${view}/${route.value.id}`}>{connection.value === "signed-out" ? <SignedOut /> : <View />}</main>
      {isHelped.value && <Help />}
    </>
  );
}

function View() {
  const { view, id } = route.value;
  switch (view) {
    case "overview":
      return <Overview />;
    case "runs":
      return <Runs />;
    case "run":
      return <Run key={id} id={id} />;
    case "approvals":
      return <Approvals />;
    case "plugins":
      return id === "" ? <Plugins /> : <Plugin key={id} id={id} />;
    case "measurements":
      return <Measurements />;
    case "incidents":
      return <Incidents />;
    case "logs":
      return <Logs />;
    default:
      return (
        <Empty title="There is no such page.">
          <a href={href("overview")}>Overview</a>
        </Empty>
      );
  }
}

const WORDS = { connecting: "connecting", live: "live", lost: "disconnected", "signed-out": "signed out" } as const;

function State() {
  const isWell = connection.value === "live" && away.value === undefined;
  return (
    <span class="state" title={hostId.value}>
      <i class={`dot ${isWell ? "good" : connection.value === "connecting" ? "busy" : "bad"}`} />
      <span>{away.value !== undefined && connection.value === "live" ? "host gone" : WORDS[connection.value]}</span>
      {stats.value?.isRecording && <em title="record.enabled is set in creel.json: whole events are kept"> recording events</em>}
      {scopes.value.length > 0 && !mayAct.value && <em> read only</em>}
    </span>
  );
}

function Banner() {
  if (connection.value === "lost")
    return (
      <p class="banner bad" role="alert">
        Disconnected. What you see is old. The page reconnects by itself; if the gateway or "creel console" has ended, start it again.
      </p>
    );
  if (connection.value === "live" && away.value !== undefined)
    return (
      <p class="banner bad" role="alert">
        The host does not answer: <T text={away.value} max={300} />. What you see is old. The page goes on when the host is back.
      </p>
    );
  if (missed.value > 0)
    return (
      <p class="banner missed">
        {count(missed.value, "run")} ended while this page was away or too slow, more than it can be told afterwards: they are missing from
        the list. The audit log has those of them that were blocked or failed.{" "}
        <button class="link" onClick={() => (missed.value = 0)}>
          ok
        </button>
      </p>
    );
  if (dropped.value > 0)
    return (
      <p class="banner">
        This page was too slow for {dropped.value.toLocaleString("en")} things, which it does not show.{" "}
        <button class="link" onClick={() => (dropped.value = 0)}>
          ok
        </button>
      </p>
    );
  return null;
}

function SignedOut() {
  return (
    <Empty title="You are not signed in.">
      An address of the console works once, within a minute, and for one tab. Get a new one: <Command text="creel console" />
    </Empty>
  );
}

function Help() {
  return (
    <aside class="help" role="note" aria-label="keys">
      <dl>
        <dt>1 – 7</dt>
        <dd>views</dd>
        <dt>/</dt>
        <dd>find</dd>
        <dt>j k ↵</dt>
        <dd>move in a list of runs, open one</dd>
        <dt>Esc</dt>
        <dd>back</dd>
        <dt>?</dt>
        <dd>this list</dd>
      </dl>
    </aside>
  );
}

await signIn();
takeCodes();
followAddress();
document.body.replaceChildren();
render(<App />, document.body);
void follow();
