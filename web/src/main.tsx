// The page: what is open, how far it is read, and which view of it is shown.

import { render } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { CompareView } from "./compare";
import { ConnectionView } from "./connection";
import { useConnection } from "./details";
import type { Content } from "./document";
import { roundBytes, visible } from "./format";
import { format, type Go, parse, START, type State } from "./hash";
import { HelpDialog } from "./help";
import { embedded, open, type Status, served, status } from "./load";
import { type Notes, reportWith, useNotes } from "./notes";
import { Overview } from "./overview";
import "./style.css";
import { applyTheme, ThemeSwitch } from "./theme";
import { save } from "./tracks/take";
import { WatchView } from "./watch";

/**
 * How often a reading is asked how far it is, milliseconds: at once, for a small one is soon read,
 * then seldom.
 */
const ASK = [10, 200] as const;

type Going =
  | { state: "waiting" }
  | { state: "empty" }
  | { state: "reading"; name: string; read: number; total: number | null }
  | { state: "failed"; error: string };

/** What is said above what is open: what did not come of it, and why. */
interface Notice {
  what: string;
  why: string;
}

function App() {
  const [content, setContent] = useState<Content | null>(null);
  const [going, setGoing] = useState<Going>({ state: "waiting" });
  const [local, setLocal] = useState(false);
  const [view, setView] = useState<State>(() => parse(location.hash));
  const [help, setHelp] = useState<string | null>(null);
  const [over, setOver] = useState<"open" | "beside" | null>(null);
  const [notice, setNotice] = useState<Notice | null>(null);
  const picker = useRef<HTMLInputElement>(null);
  const besidePicker = useRef<HTMLInputElement>(null);

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

  /**
   * What was opened just now is shown from its beginning, with what is set side by side; else the
   * address says what is to be seen. `failed`: why something that was to be opened is not.
   */
  const show = useCallback(
    (found: Content, failed: string | null, isNew: boolean) => {
      setContent(found);
      if (failed !== null) return setNotice({ what: "Not opened.", why: failed });
      setNotice(found.uncompared === null ? null : { what: "Not compared.", why: found.uncompared });
      if (isNew || (found.compare && format(parse(location.hash)) === format(START)))
        go({ ...START, compare: found.compare }, !isNew);
    },
    [go],
  );

  const follow = useCallback(
    async (after: number, isNew = false) => {
      for (let wait: number = ASK[0]; ; wait = Math.min(ASK[1], wait * 2)) {
        const now: Status = await status();
        if (now.number >= after) {
          if (now.state === "ready") {
            show(await served(), now.error, isNew);
            setGoing({ state: "waiting" });
            return;
          }
          if (now.state === "failed") return setGoing({ state: "failed", error: now.error ?? "it could not be read" });
          if (now.state === "empty") return setGoing({ state: "empty" });
          setGoing({ state: "reading", name: now.name ?? "", read: now.read, total: now.total });
        }
        await new Promise((done) => setTimeout(done, wait));
      }
    },
    [show],
  );

  useEffect(() => {
    const failed = (error: unknown) => setGoing({ state: "failed", error: String((error as Error).message ?? error) });
    embedded()
      .then(async (found) => {
        if (found) return show(found, null, false);
        setLocal(true);
        await follow(0);
      })
      .catch(failed);
  }, [follow, show]);

  const take = useCallback(
    async (files: File[], beside: string | null) => {
      if (files.length === 0) return;
      const name = files.map((file) => visible(file.name)).join(", ");
      try {
        setContent(null);
        setNotice(null);
        const before = (await status()).number;
        setGoing({ state: "reading", name, read: 0, total: null });
        await open(files, beside, (read, total) => setGoing({ state: "reading", name, read, total }));
        await follow(before + 1, true);
      } catch (error) {
        const why = (error as Error).message;
        setGoing({ state: "failed", error: why });
        // What was open before is open still.
        await status()
          .then(async (now) => now.state === "ready" && show(await served(), why, false))
          .catch(() => undefined);
      }
    },
    [follow, show],
  );

  // The transfer of what is open that a second capture is compared with; empty: the largest.
  const [first] = view.compare ?? [];
  const here = first
    ? first.join(".")
    : view.connection === null
      ? ""
      : [view.connection, view.transfer].filter(Boolean).join(".");
  const isOpen = content !== null;
  // A page of what is watched takes no files.
  const takes = local && !content?.watch;
  useEffect(() => {
    if (!takes) return;
    const side = (event: DragEvent) => (isOpen && event.clientX > innerWidth / 2 ? "beside" : "open");
    const drag = (event: DragEvent) => {
      event.preventDefault();
      setOver(event.type === "dragover" ? side(event) : null);
    };
    const drop = (event: DragEvent) => {
      drag(event);
      void take([...(event.dataTransfer?.files ?? [])], side(event) === "beside" ? here : null);
    };
    addEventListener("dragover", drag);
    addEventListener("dragleave", drag);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", drag);
      removeEventListener("dragleave", drag);
      removeEventListener("drop", drop);
    };
  }, [takes, take, isOpen, here]);

  const connection = useConnection(content, content?.watch ? null : view.connection, local);
  const notes = useNotes(content);
  useEffect(() => {
    document.title = content ? `${content.name} – whyslow` : "whyslow";
  }, [content]);

  return (
    <div class={over && !isOpen ? "page over" : "page"}>
      {over && isOpen && (
        <div class="zones" aria-hidden="true">
          <div class={over === "open" ? "here" : ""}>Drop to open</div>
          <div class={over === "beside" ? "here" : ""}>
            Drop to compare
            <br />
            with what is open
          </div>
        </div>
      )}
      <header class="top">
        <a
          class="brand"
          href="#"
          onClick={(event) => {
            event.preventDefault();
            go({ ...START });
          }}
          title="Overview"
        >
          why<b>slow</b>
        </a>
        <span class="file">{content?.name}</span>
        {takes && (
          <>
            <button type="button" onClick={() => picker.current?.click()}>
              Open a capture…
            </button>
            <input
              ref={picker}
              type="file"
              multiple
              hidden
              aria-label="Capture files"
              onChange={(event) => {
                void take([...(event.currentTarget.files ?? [])], null);
                event.currentTarget.value = "";
              }}
            />
            {isOpen && (
              <button
                type="button"
                onClick={() => besidePicker.current?.click()}
                title="Another capture beside the one that is open; or drop it on the right half of the page"
              >
                Compare with…
              </button>
            )}
            <input
              ref={besidePicker}
              type="file"
              multiple
              hidden
              aria-label="Capture files to compare with"
              onChange={(event) => {
                void take([...(event.currentTarget.files ?? [])], here);
                event.currentTarget.value = "";
              }}
            />
          </>
        )}
        {isOpen && !content.watch && <SaveReport {...{ notes, local, failed: setNotice }} />}
        <ThemeSwitch />
      </header>
      {notice !== null && (
        <p class="notice" role="alert">
          <span>
            <b class="failed">{notice.what}</b> {notice.why}
          </span>
          <button type="button" onClick={() => setNotice(null)} aria-label="Close">
            ×
          </button>
        </p>
      )}
      {content === null ? (
        <Waiting going={going} pick={() => picker.current?.click()} />
      ) : content.watch ? (
        <WatchView content={content} view={view} go={go} help={setHelp} notes={notes} />
      ) : view.compare ? (
        <CompareView content={content} spots={view.compare} go={go} local={local} />
      ) : typeof connection === "string" ? (
        <Elsewhere why={connection} go={go} />
      ) : view.connection !== null && !connection ? (
        <main class="waiting" aria-busy="true" />
      ) : connection ? (
        <ConnectionView
          key={connection.id}
          content={content}
          connection={connection}
          view={view}
          go={go}
          help={setHelp}
          local={local}
          notes={notes}
        />
      ) : (
        <Overview content={content} view={view} go={go} help={setHelp} local={local} notes={notes} />
      )}
      <footer class="bottom">
        <span>whyslow {content?.version}</span>
        <span>Nothing leaves this machine: this page loads nothing and sends nothing.</span>
      </footer>
      {content && <HelpDialog content={content} slug={help} close={() => setHelp(null)} show={setHelp} />}
    </div>
  );
}

/** The page as one file, with the notes in it. */
function SaveReport({ notes, local, failed }: { notes: Notes; local: boolean; failed: (notice: Notice) => void }) {
  const [isBusy, setIsBusy] = useState(false);
  const keep = async () => {
    setIsBusy(true);
    await reportWith(notes.list, local)
      .then((page) => save("whyslow-report.html", page))
      .catch((error: Error) => failed({ what: "Not saved.", why: error.message }));
    setIsBusy(false);
  };
  return (
    <button
      type="button"
      disabled={isBusy}
      onClick={() => void keep()}
      title="All of this as one file to be sent, with your notes"
    >
      {isBusy ? "Saving…" : "Save report"}
    </button>
  );
}

/** A connection that is not shown, and why. */
function Elsewhere({ why, go }: { why: string; go: Go }) {
  return (
    <main class="waiting">
      <p role="alert">{why}</p>
      <button type="button" onClick={() => go({ connection: null, transfer: null, zoom: null })}>
        All connections
      </button>
    </main>
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
          <p>
            Reading <b>{going.name}</b>
          </p>
          <progress {...(total ? { value: read, max: total } : {})} aria-label="How much is read" />
          <p class="dim">
            {roundBytes(read)}
            {total ? ` of ${roundBytes(total)}` : ""}
          </p>
        </main>
      );
    }
    case "failed":
      return (
        <main class="waiting">
          <p class="failed" role="alert">
            <b>It could not be read.</b> {going.error}
          </p>
        </main>
      );
  }
}

applyTheme();
const root = document.getElementById("app");
if (root) render(<App />, root);
