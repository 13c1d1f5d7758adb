// Colours, the navigation of a narrow page, and the search. It works from a file, too: what is
// searched comes as a script.
(() => {
  const page = document.documentElement;
  const KEY = "whyslow-theme";
  const NEXT = { auto: "light", light: "dark", dark: "auto" };
  const SIGN = { auto: "◐", light: "☀", dark: "☾" };
  const stored = () => {
    try {
      const found = localStorage.getItem(KEY);
      return found in NEXT ? found : "auto";
    } catch {
      return "auto"; // Storage may be closed to a file.
    }
  };
  page.dataset.theme = stored();

  /** Loads what is searched, once. */
  let index = null;
  const load = () => {
    index ??= new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = `${page.dataset.root}assets/search.js`;
      script.onload = () => {
        const search = new MiniSearch({
          fields: ["title", "heading", "text"],
          storeFields: ["title", "heading", "address", "text"],
          searchOptions: { boost: { title: 3, heading: 4 }, prefix: true, fuzzy: 0.15, combineWith: "AND" },
        });
        search.addAll(SECTIONS);
        done(search);
      };
      script.onerror = failed;
      document.head.append(script);
    });
    return index;
  };

  /** The words around the first one that was found. */
  const excerpt = ({ text, terms }) => {
    const places = terms.map((term) => text.toLowerCase().indexOf(term)).filter((place) => place >= 0);
    const first = Math.min(...places, text.length);
    // From a word on, and to the end of one.
    const from = first <= 40 ? 0 : text.indexOf(" ", first - 40) + 1;
    const to = text.indexOf(" ", from + 120);
    return (from > 0 ? "… " : "") + text.slice(from, to < 0 ? undefined : to) + (to < 0 ? "" : " …");
  };

  /** Not many, and of each document the best. */
  const few = (results) => {
    const had = new Map();
    const isFew = ({ title }) => {
      had.set(title, (had.get(title) ?? 0) + 1);
      return had.get(title) <= 3;
    };
    return results.filter(isFew).slice(0, 12);
  };

  const show = (results, list, query) => {
    list.replaceChildren(
      ...few(results).map((one) => {
        const [item, link, where, words] = ["li", "a", "b", "span"].map((name) => document.createElement(name));
        link.href = page.dataset.root + one.address;
        where.textContent = one.heading && one.heading !== one.title ? `${one.title}: ${one.heading}` : one.title;
        words.textContent = excerpt(one);
        link.append(where, words);
        item.append(link);
        return item;
      }),
    );
    if (results.length === 0 && query) {
      const none = document.createElement("li");
      none.textContent = `Nothing has all of these words: ${query}`;
      list.append(none);
    }
    list.hidden = query === "";
  };

  addEventListener("DOMContentLoaded", () => {
    const theme = document.querySelector(".theme");
    const name = () => {
      const now = page.dataset.theme;
      theme.textContent = SIGN[now];
      theme.title = `Colours: ${now}`;
      theme.setAttribute("aria-label", `Colours: ${now}; change`);
    };
    name();
    theme.onclick = () => {
      page.dataset.theme = NEXT[page.dataset.theme];
      try {
        localStorage.setItem(KEY, page.dataset.theme);
      } catch {
        // Then it holds for this page alone.
      }
      name();
    };

    const menu = document.querySelector(".menu");
    menu.onclick = () => {
      const isOpen = document.body.classList.toggle("open");
      menu.setAttribute("aria-expanded", String(isOpen));
    };
    document.querySelector('nav [aria-current="page"]')?.scrollIntoView({ block: "nearest" });

    const input = document.querySelector(".search input");
    const list = document.querySelector("#results");
    input.onfocus = () => void load();
    input.oninput = async () => {
      const query = input.value.trim();
      const search = await load();
      if (query === input.value.trim()) show(query ? search.search(query) : [], list, query);
    };
    input.onkeydown = (event) => {
      if (event.key === "Escape") {
        input.value = "";
        list.hidden = true;
      }
      if (event.key === "Enter") list.querySelector("a")?.click();
      if (event.key === "ArrowDown") list.querySelector("a")?.focus();
    };
    list.onkeydown = (event) => {
      const links = [...list.querySelectorAll("a")];
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      (links[links.indexOf(document.activeElement) + step] ?? input).focus();
    };
    addEventListener("click", (event) => {
      if (!event.target.closest(".search")) list.hidden = true;
    });
    addEventListener("keydown", (event) => {
      if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) {
        event.preventDefault();
        input.focus();
      }
    });
  });
})();
