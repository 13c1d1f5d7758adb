#![allow(clippy::unwrap_used)]

use super::*;

const DOCUMENT: &str = "\
The sender spent most of the transfer opening its window.

## What it sees
Flights that grow ×1.5–2 a round, and *nothing* that stopped them: the receiver's window is wider, no segment is lost.
See [RFC 5681](https://www.rfc-editor.org/rfc/rfc5681) and <https://example.org/>.

- it never left slow start, or
- its rounds took at least **half** of the time; a long item is wrapped and goes on under its own first word
  1. nested
  2. twice

## Fix
Raise `initcwnd`:

```sh
ip route change default via 192.0.2.1 initcwnd 92   # a long line of code stays whole, whatever the width
```

| value | rounds |
|---|---|
| `10` | 8 |

Escapes like \u{1b}[31m stay harmless.
";

#[test]
fn a_document_is_laid_out() {
    let text = terminal(DOCUMENT, 72);
    insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string());
    assert!(!anstream::adapter::strip_str(&text).to_string().contains('\u{1b}'));
}

#[test]
fn words_wrap_with_the_punctuation_that_touches_them() {
    let text = terminal("aaa `bbb`, (**ccc**) ddd", 9);
    assert_eq!(anstream::adapter::strip_str(&text).to_string(), "aaa bbb,\n(ccc) ddd\n");
}

#[test]
fn any_text_is_laid_out() {
    for text in [
        "",
        "\n\n",
        "# ",
        "- ",
        "```\nopen",
        "|a|\n|-|",
        "[x](",
        "1. \n\n   para\n2. b",
        "> quote",
        "---",
        "&amp; <b>x</b>",
    ] {
        let _ = terminal(text, 20);
        let _ = terminal(text, 0);
    }
}
