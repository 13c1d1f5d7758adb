//! Draws of other draws: the same the other way round, or in TLS.

use super::settings::{Chance, Setting, set};

/// As drawn, with client and server in each other's place: what was downloaded is uploaded.
pub(super) fn mirrored(settings: Vec<Setting>) -> Vec<Setting> {
    const ENDS: [(&str, &str); 2] = [("client.", "server."), ("down.", "up.")];
    let swap = |text: &str| {
        ENDS.iter().fold(text.to_owned(), |text, (one, other)| {
            // A byte that no setting has stands for the first while the other takes its place.
            text.replace(one, "\0").replace(other, one).replace('\0', other)
        })
    };
    let turn = |(key, value): Setting| {
        let key = swap(&key).replace("work.download.", "work.upload.");
        // Only claims name ends.
        let value = if key == "verify" { swap(&value) } else { value };
        (key, value)
    };
    settings.into_iter().map(turn).collect()
}

/// As drawn, in TLS, or as HTTP in TLS.
pub(super) fn in_tls(chance: &mut Chance, draw: fn(&mut Chance) -> Vec<Setting>) -> Vec<Setting> {
    let mut settings = draw(chance);
    settings.retain(|(key, _)| key != "work.download.protocol");
    settings.push(set("work.download.protocol", chance.among(&["tls", "https"])));
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrored_twice_is_as_drawn_but_for_the_work() {
        let drawn = vec![
            set("client.tcp_rmem", "a"),
            set("path.down.rate", "client. is no end here"),
            set("verify", r#"["down.lost <= 0", "server.rwnd_limited >= 5%"]"#),
        ];
        let once = mirrored(drawn.clone());
        assert_eq!(once[0].0, "server.tcp_rmem");
        assert_eq!(once[1], set("path.up.rate", "client. is no end here"));
        assert_eq!(once[2].1, r#"["up.lost <= 0", "client.rwnd_limited >= 5%"]"#);
        assert_eq!(mirrored(once), drawn);
    }
}
