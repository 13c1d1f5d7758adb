// The page: what is open, how far it is read, and which view of it is shown.

import { render } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ConnectionView } from "./connection";
import { roundBytes } from "./format";
import { START, format, parse, type State } from "./hash";
import { HelpDialog } from "./help";
import { embedded, open, served, status, type Status } from "./load";
import type { Content } from "./model";
import { Overview } from "./overview";
import "./style.css";
import { ThemeSwitch, applyTheme } from "./theme";

/** How often a reading is asked how far it is, milliseconds: at once, for a small one is soon read, then seldom. */
const ASK = [10, 200] as const;

type Going =
  | { state: "waiting" }
  | { state: "empty" }
  | { state: "reading"; name: string; read: number; total: number | null }
  | { state: "failed"; error: string };

function App() {
  const [content, setContent] = useState<Content | null>(null);
  const [going, setGoing] = useState<Going>({ state: "waiting" });
  const [local, setLocal] = useState(false);
  const [view, setView] = useState<State>(() => parse(location.hash));
  const [help, setHelp] = useState<string | null>(null);
  const [over, setOver] = useState(false);
  const picker = useRef<HTMLInputElement>(null);

  const go = useCallback((change: Partial<State>, keep = false) => {
    setView((old) => {
      const next = { ...old, ...change };
      const hash = format(next);
      if (hash !== format(parse(location.hash))) {
        if (keep) history.replaceState(null, "", hash);
        else history.pushState(null, "", hash);
      }
      return next;
    });
  }, []);

  useEffect(() => {
    const moved = () => setView(parse(location.hash));
    addEventListener("popstate", moved);
    addEventListener("hashchange", moved);
    return () => {
      removeEventListener("popstate", moved);
      removeEventListener("hashchange", moved);
    };
  }, []);

  const follow = useCallback(async (after: number) => {
    for (let wait: number = ASK[0]; ; wait = Math.min(ASK[1], wait * 2)) {
      const now: Status = await status();
      if (now.number >= after) {
        if (now.state === "ready") {
          setContent(await served());
          setGoing({ state: "waiting" });
          return;
        }
        if (now.state === "failed") return setGoing({ state: "failed", error: now.error ?? "it could not be read" });
        if (now.state === "empty") return setGoing({ state: "empty" });
        setGoing({ state: "reading", name: now.name ?? "", read: now.read, total: now.total });
      }
      await new Promise((done) => setTimeout(done, wait));
    }
  }, []);

  useEffect(() => {
    const failed = (error: unknown) => setGoing({ state: "failed", error: String((error as Error).message ?? error) });
    embedded()
      .then(async (found) => {
        if (found) return setContent(found);
        setLocal(true);
        await follow(0);
      })
      .catch(failed);
  }, [follow]);

  const take = useCallback(
    async (files: File[]) => {
      if (files.length === 0) return;
      const name = files.map((file) => file.name).join(", ");
      try {
        setContent(null);
        go({ ...START });
        const before = (await status()).number;
        setGoing({ state: "reading", name, read: 0, total: null });
        await open(files, (read, total) => setGoing({ state: "reading", name, read, total }));
        await follow(before + 1);
      } catch (error) {
        setGoing({ state: "failed", error: (error as Error).message });
      }
    },
    [follow, go],
  );

  useEffect(() => {
    if (!local) return;
    const drag = (event: DragEvent) => {
      event.preventDefault();
      setOver(event.type === "dragover");
    };
    const drop = (event: DragEvent) => {
      drag(event);
      void take([...(event.dataTransfer?.files ?? [])]);
    };
    addEventListener("dragover", drag);
    addEventListener("dragleave", drag);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", drag);
      removeEventListener("dragleave", drag);
      removeEventListener("drop", drop);
    };
  }, [local, take]);

  const connection = content?.analysis.connections.find((one) => one.id === view.connection);
  useEffect(() => {
    document.title = content ? `${content.name} – whyslow` : "whyslow";
  }, [content]);

  return (
    <div class={over ? "page over" : "page"}>
      <header class="top">
        <a class="brand" href="#" onClick={(event) => { event.preventDefault(); go({ ...START }); }} title="Overview">
          why<b>slow</b>
        </a>
        <span class="file">{content?.name}</span>
        {local && (
          <>
            <button type="button" onClick={() => picker.current?.click()}>Open a capture…</button>
            <input
              ref={picker} type="file" multiple hidden aria-label="Capture files"
              onChange={(event) => { void take([...(event.currentTarget.files ?? [])]); event.currentTarget.value = ""; }}
            />
          </>
        )}
        <ThemeSwitch />
      </header>
      {content === null ? (
        <Waiting going={going} pick={() => picker.current?.click()} />
      ) : connection ? (
        <ConnectionView key={connection.id} content={content} connection={connection} view={view} go={go} help={setHelp} local={local} />
      ) : (
        <Overview content={content} view={view} go={go} help={setHelp} />
      )}
      <footer class="bottom">
        <span>whyslow {content?.version}</span>
        <span>Nothing leaves this machine: this page loads nothing and sends nothing.</span>
      </footer>
      {content && <HelpDialog content={content} slug={help} close={() => setHelp(null)} show={setHelp} />}
    </div>
  );
}

function Waiting({ going, pick }: { going: Going; pick: () => void }) {
  switch (going.state) {
    case "waiting":
      return <main class="waiting" aria-busy="true" />;
    case "empty":
      return (
        <main class="waiting">
          <button type="button" class="drop" onClick={pick}>
            <b>Drop a capture here</b>
            <span>pcap, pcapng or tcpdump’s text, compressed or not; both ends of a path together</span>
            <span>It stays on this machine.</span>
          </button>
        </main>
      );
    case "reading": {
      const { read, total } = going;
      return (
        <main class="waiting" aria-busy="true">
          <p>Reading <b>{going.name}</b></p>
          <progress {...(total ? { value: read, max: total } : {})} aria-label="How much is read" />
          <p class="dim">{roundBytes(read)}{total ? ` of ${roundBytes(total)}` : ""}</p>
        </main>
      );
    }
    case "failed":
      return (
        <main class="waiting">
          <p class="failed" role="alert"><b>It could not be read.</b> {going.error}</p>
        </main>
      );
  }
}

applyTheme();
const root = document.getElementById("app");
if (root) render(<App />, root);
