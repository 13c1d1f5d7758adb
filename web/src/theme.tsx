// Light, dark, or as the system has it.

import { useState } from "preact/hooks";
import { t, word } from "./texts";
import { type Lang, lang, setLang } from "./words";

type Theme = "auto" | "light" | "dark";
const NEXT: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };
const SIGN: Record<Theme, string> = { auto: "◐", light: "☀", dark: "☾" };
const KEY = "whyslow-theme";

function stored(): Theme {
  try {
    const found = localStorage.getItem(KEY);
    return found === "light" || found === "dark" ? found : "auto";
  } catch {
    return "auto"; // Storage may be closed to a file.
  }
}

/** Tells the styles which colours are wanted. */
export function applyTheme(theme: Theme = stored()): void {
  document.documentElement.dataset.theme = theme;
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(stored);
  const change = () => {
    const next = NEXT[theme];
    setTheme(next);
    applyTheme(next);
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // Then it holds for this page alone.
    }
    dispatchEvent(new Event("themechange"));
  };
  return (
    <button
      type="button"
      class="theme"
      onClick={change}
      title={t`Colours: ${word(theme)}`}
      aria-label={t`Colours: ${word(theme)}; change`}
    >
      <span aria-hidden="true">{SIGN[theme]}</span>
    </button>
  );
}

/** English or Chinese sentences. */
export function LangSwitch() {
  const [current, setCurrent] = useState<Lang>(lang);
  const next: Lang = current === "en" ? "zh" : "en";
  const change = () => {
    setLang(next);
    setCurrent(next);
  };
  const name = next === "zh" ? "中文" : "English";
  return (
    <button type="button" class="theme" onClick={change} title={name} aria-label={t`Language: ${name}`}>
      <span aria-hidden="true">{next === "zh" ? "中" : "En"}</span>
    </button>
  );
}
