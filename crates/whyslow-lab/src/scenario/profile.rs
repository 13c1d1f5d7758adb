//! [`Profile`]: paths of known kinds by name, with the source of their figures.

/// A kind of access network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// Round-trip time without queueing.
    pub rtt: &'static str,
    /// Rate towards the server.
    pub up: &'static str,
    /// Rate towards the client.
    pub down: &'static str,
    /// The queue in front of each rate: a round trip, and at least 100 ms.
    pub queue: &'static str,
    /// The source of rate and round trip.
    pub source: &'static str,
}

/// The settings of WebPageTest.
const WEBPAGETEST: &str = "WebPageTest, www/settings/connectivity.ini.sample";
/// The profiles of Firefox' developer tools.
const FIREFOX: &str = "Firefox DevTools, throttling profiles";

impl Profile {
    /// All of them, the fastest first.
    pub const ALL: [Self; 8] = [
        Self::of("wifi", ["2ms", "15mbit", "30mbit", "100ms"], FIREFOX),
        Self::of("fiber", ["4ms", "5mbit", "20mbit", "100ms"], WEBPAGETEST),
        Self::of("cable", ["28ms", "1mbit", "5mbit", "100ms"], WEBPAGETEST),
        Self::of("lte", ["70ms", "12mbit", "12mbit", "100ms"], WEBPAGETEST),
        Self::of("dsl", ["50ms", "384kbit", "1.5mbit", "100ms"], WEBPAGETEST),
        Self::of("3g", ["300ms", "768kbit", "1.6mbit", "300ms"], WEBPAGETEST),
        Self::of("edge", ["840ms", "200kbit", "240kbit", "840ms"], WEBPAGETEST),
        Self::of(
            "satellite",
            ["600ms", "3mbit", "25mbit", "600ms"],
            "RFC 2488 section 2 (geostationary: 558 ms and more); rates of the FCC's definition of broadband, 2015",
        ),
    ];

    const fn of(name: &'static str, [rtt, up, down, queue]: [&'static str; 4], source: &'static str) -> Self {
        Self { name, rtt, up, down, queue, source }
    }

    /// The profile of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name == name)
    }

    /// Its keys of a scenario, which later ones replace.
    pub fn keys(&self) -> Vec<(String, String)> {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        vec![
            pair("path.rtt", self.rtt),
            pair("path.up.rate", self.up),
            pair("path.down.rate", self.down),
            pair("path.up.queue", self.queue),
            pair("path.down.queue", self.queue),
        ]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::load;
    use super::*;

    #[test]
    fn each_profile_is_a_scenario_and_an_option_replaces_its_figures() {
        for profile in Profile::ALL {
            let mut keys = profile.keys();
            keys.push(("path.rtt".to_owned(), "10ms".to_owned()));
            let scenario = load("profile", "", &keys).unwrap().runs.remove(0).scenario;
            assert_eq!(scenario.path.rtt.map(|rtt| rtt.0), Some(10_000_000), "{}", profile.name);
            assert!(scenario.path.down.rate >= scenario.path.up.rate, "{}", profile.name);
            assert_eq!(Profile::named(profile.name), Some(profile));
        }
    }
}
