//! The language of the sentences: an option, or the environment's.

use whyslow_report::words::Lang;

/// The language of an option's value.
///
/// # Errors
/// If it is neither English nor Chinese.
pub fn parse(tag: &str) -> Result<Lang, String> {
    Lang::from_tag(tag).ok_or_else(|| format!("no sentences in `{tag}`: use en or zh"))
}

/// The option's language, else the first that POSIX looks at: LC_ALL, LC_MESSAGES, LANG. English if
/// they name neither language.
pub fn chosen(option: Option<Lang>) -> Lang {
    option.unwrap_or_else(|| of_environment(|name| std::env::var(name).ok()))
}

fn of_environment(value: impl Fn(&str) -> Option<String>) -> Lang {
    let set = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(value).find(|value| !value.is_empty());
    set.and_then(|tag| Lang::from_tag(&tag)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_variable_that_is_set_decides() {
        let lang = |all: &str, lang: &str| {
            of_environment(|name| match name {
                "LC_ALL" => Some(all.to_owned()),
                "LANG" => Some(lang.to_owned()),
                _ => None,
            })
        };
        assert_eq!(lang("", "zh_CN.UTF-8"), Lang::Zh);
        assert_eq!(lang("C.UTF-8", "zh_CN.UTF-8"), Lang::En);
        assert_eq!(lang("", "de_DE.UTF-8"), Lang::En);
        assert_eq!(lang("zh-TW", ""), Lang::Zh);
    }

    #[test]
    fn unknown_language_is_an_error() {
        assert_eq!(parse("zh"), Ok(Lang::Zh));
        assert!(parse("fr").is_err_and(|error| error.contains("en or zh")));
    }
}
