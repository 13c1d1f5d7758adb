// The page: what is open, how far it is read, and which view of it is shown.

import { render } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type CaptureSource, type Reading, Stopped } from "./capture-source";
import { CompareView } from "./compare";
import { ConnectionView } from "./connection";
import { useConnection } from "./details";
import type { Content } from "./document";
import { embedded, engineBytes } from "./embedded-data";
import { WorkerSource } from "./engine/capture-source";
import { visible } from "./format";
import { HelpDialog } from "./help";
import { type Notes, reportWith, useNotes } from "./notes";
import { Overview } from "./overview";
import { answerOf, type QueryClient } from "./query-client";
import { server } from "./server";
import { format, type Go, parse, START, type State } from "./url-state";
import "./style.css";
import { t } from "./texts";
import { applyTheme, LangSwitch, ThemeSwitch } from "./theme";
import { save } from "./tracks/export";
import { type Going, Waiting } from "./waiting";
import { WatchView } from "./watch";
import { type Lang, lang } from "./words";

/** The notice above the open captures: what failed, and why. */
interface Notice {
  what: string;
  why: string;
}

function App() {
  const [content, setContent] = useState<Content | null>(null);
  const [going, setGoing] = useState<Going>({ state: "waiting" });
  const [source, setSource] = useState<CaptureSource | null>(null);
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

  // The sentences are in another language from now on.
  const [, setLanguage] = useState<Lang>(lang);
  useEffect(() => {
    const changed = () => setLanguage(lang());
    addEventListener("langchange", changed);
    return () => removeEventListener("langchange", changed);
  }, []);

  /**
   * What was opened just now is shown from its beginning, with what is set side by side; else the
   * address says what is to be seen. `failed`: why something that was to be opened is not.
   */
  const show = useCallback(
    (found: Content, failed: string | null, isNew: boolean) => {
      setContent(found);
      if (failed !== null) return setNotice({ what: t`Not opened.`, why: failed });
      if (found.uncompared !== null) setNotice({ what: t`Not compared.`, why: found.uncompared });
      else if (found.unshown !== null) setNotice({ what: t`Not shown.`, why: found.unshown });
      else setNotice(found.unproved === null ? null : { what: t`The proof is not shown.`, why: found.unproved });
      if (!isNew && found.show && format(parse(location.hash)) === format(START))
        return go({ ...START, connection: found.show[0], transfer: found.show[1] }, true);
      if (isNew || (found.compare && format(parse(location.hash)) === format(START)))
        go({ ...START, compare: found.compare }, !isNew);
    },
    [go],
  );

  useEffect(() => {
    const failed = (error: unknown) => setGoing({ state: "failed", error: String((error as Error).message ?? error) });
    const begin = async () => {
      const found = await embedded();
      if (found) return show(found, null, false);
      const engine = await engineBytes();
      const asked = engine ? await WorkerSource.of(engine) : server;
      setSource(asked);
      const { content, failed } = await asked.begin((reading) => setGoing({ state: "reading", ...reading }));
      if (content) show(content, failed, false);
      else setGoing({ state: "empty" });
    };
    begin().catch(failed);
  }, [show]);

  // Of several drops the last counts.
  const turn = useRef(0);
  const take = useCallback(
    async (files: File[], otherPlace: string | null) => {
      if (files.length === 0 || source === null) return;
      turn.current += 1;
      const mine = turn.current;
      const isLast = () => turn.current === mine;
      const name = files.map((file) => visible(file.name)).join(", ");
      try {
        setContent(null);
        setNotice(null);
        setGoing({ state: "reading", name, read: 0, total: null });
        const onProgress = (reading: Reading) => isLast() && setGoing({ state: "reading", ...reading });
        const { content, failed } = await source.open(files, otherPlace, onProgress);
        if (!isLast()) return;
        if (content) show(content, failed, true);
        setGoing({ state: content ? "waiting" : "empty" });
      } catch (error) {
        if (!isLast()) return;
        const why = (error as Error).message;
        setGoing(error instanceof Stopped ? { state: "empty" } : { state: "failed", error: why });
        // What was open before is open still.
        const before = await source.current().catch(() => null);
        if (before && isLast()) show(before, why, false);
      }
    },
    [source, show],
  );

  // The transfer of the open captures that a second capture is compared with; empty: the largest.
  const [first] = view.compare ?? [];
  const here = first
    ? first.join(".")
    : view.connection === null
      ? ""
      : [view.connection, view.transfer].filter(Boolean).join(".");
  const isOpen = content !== null;
  // The page of a watch takes no files.
  const takes = source !== null && !content?.watch;
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

  const connection = useConnection(content, content?.watch ? null : view.connection, source);
  const notes = useNotes(content);
  useEffect(() => {
    document.title = content ? `${content.name} – whyslow` : "whyslow";
  }, [content]);

  return (
    <div class={over && !isOpen ? "page over" : "page"}>
      {over && isOpen && (
        <div class="zones" aria-hidden="true">
          <div class={over === "open" ? "here" : ""}>{t`Drop to open`}</div>
          <div class={over === "beside" ? "here" : ""}>
            {t`Drop to compare`}
            <br />
            {t`with what is open`}
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
          title={t`Overview`}
        >
          why<b>slow</b>
        </a>
        <span class="file">{content?.name}</span>
        {takes && (
          <>
            <button type="button" onClick={() => picker.current?.click()}>
              {t`Open a capture…`}
            </button>
            <input
              ref={picker}
              type="file"
              multiple
              hidden
              aria-label={t`Capture files`}
              onChange={(event) => {
                void take([...(event.currentTarget.files ?? [])], null);
                event.currentTarget.value = "";
              }}
            />
            {isOpen && (
              <button
                type="button"
                onClick={() => besidePicker.current?.click()}
                title={t`Another capture next to the open one; or drop it on the right half of the page`}
              >
                {t`Compare with…`}
              </button>
            )}
            <input
              ref={besidePicker}
              type="file"
              multiple
              hidden
              aria-label={t`Capture files to compare with`}
              onChange={(event) => {
                void take([...(event.currentTarget.files ?? [])], here);
                event.currentTarget.value = "";
              }}
            />
          </>
        )}
        {takes && isOpen && <SaveJson queryClient={source} failed={setNotice} />}
        {isOpen && !content.watch && <SaveReport {...{ notes, queryClient: source, failed: setNotice }} />}
        <LangSwitch />
        <ThemeSwitch />
      </header>
      {notice !== null && (
        <p class="notice" role="alert">
          <span>
            <b class="failed">{notice.what}</b> {notice.why}
          </span>
          <button type="button" onClick={() => setNotice(null)} aria-label={t`Close`}>
            ×
          </button>
        </p>
      )}
      {content === null ? (
        <Waiting
          going={going}
          pick={() => picker.current?.click()}
          source={source}
          take={(files) => void take(files, null)}
        />
      ) : content.watch ? (
        <WatchView content={content} view={view} go={go} help={setHelp} notes={notes} />
      ) : view.compare ? (
        <CompareView content={content} spots={view.compare} go={go} queryClient={source} />
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
          queryClient={source}
          notes={notes}
        />
      ) : (
        <Overview content={content} view={view} go={go} help={setHelp} queryClient={source} notes={notes} />
      )}
      <footer class="bottom">
        <span>whyslow {content?.version}</span>
        {isOpen && source?.cost && <span>{source.cost()}</span>}
        <span>{t`Nothing leaves this machine: this page loads nothing and sends nothing.`}</span>
      </footer>
      {content && <HelpDialog content={content} slug={help} close={() => setHelp(null)} show={setHelp} />}
    </div>
  );
}

/** All that was found, for programs. */
function SaveJson({ queryClient, failed }: { queryClient: QueryClient; failed: (notice: Notice) => void }) {
  const keep = () =>
    answerOf(queryClient, "analysis")
      .then(async (answer) => save("whyslow.json", await answer.blob()))
      .catch((error: Error) => failed({ what: t`Not saved.`, why: error.message }));
  return (
    <button type="button" onClick={() => void keep()} title={t`The whole analysis, as whyslow --json prints it`}>
      JSON
    </button>
  );
}

/** The page as one file, with the notes in it. */
function SaveReport({
  notes,
  queryClient,
  failed,
}: {
  notes: Notes;
  queryClient: QueryClient | null;
  failed: (notice: Notice) => void;
}) {
  const [isBusy, setIsBusy] = useState(false);
  const keep = async () => {
    setIsBusy(true);
    await reportWith(notes.list, queryClient)
      .then((page) => save("whyslow-report.html", page))
      .catch((error: Error) => failed({ what: t`Not saved.`, why: error.message }));
    setIsBusy(false);
  };
  return (
    <button
      type="button"
      disabled={isBusy}
      onClick={() => void keep()}
      title={t`This page as one file to send, with your notes`}
    >
      {isBusy ? t`Saving…` : t`Save report`}
    </button>
  );
}

/** A connection that is not shown, and why. */
function Elsewhere({ why, go }: { why: string; go: Go }) {
  return (
    <main class="waiting">
      <p role="alert">{why}</p>
      <button type="button" onClick={() => go({ connection: null, transfer: null, zoom: null })}>
        {t`All connections`}
      </button>
    </main>
  );
}

applyTheme();
const root = document.getElementById("app");
if (root) render(<App />, root);
