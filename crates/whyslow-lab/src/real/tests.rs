//! Checks of the table that need no run.
#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn names_are_unique_and_whatever_is_drawn_can_be_built() {
    let names: BTreeSet<&str> = rows().map(|row| row.name).collect();
    assert_eq!(names.len(), rows().count());
    assert!(names.len() >= 90, "{}", names.len());
    for seed in 0..20 {
        for (nth, row) in rows().enumerate() {
            let mut chance = Chance::new(seed, nth as u64);
            let drawn = (row.draw)(&mut chance);
            let mut settings = common(&mut chance);
            settings.extend(drawn.settings.clone());
            let runs: Vec<Variant> =
                build(&settings, row.name.to_owned()).unwrap_or_else(|e| panic!("{}: {e}", row.name)).collect();
            let [run] = runs.as_slice() else { panic!("{}: {} runs", row.name, runs.len()) };
            assert!(run.scenario.resolve().is_ok(), "{}: {:?}", row.name, run.scenario.resolve());
            assert!(!run.scenario.verify.is_empty(), "{}", row.name);
            assert!(drawn.server.port > 0 && !drawn.server.needs.is_empty(), "{}", row.name);
            assert!(!drawn.client.line.is_empty() && !drawn.client.needs.is_empty(), "{}", row.name);
        }
    }
}

#[test]
fn a_label_contradicts_itself_nowhere() {
    for Row { name, label, .. } in rows() {
        assert!(!label.right.is_empty() && !label.why.is_empty(), "{name}");
        assert!(label.right.iter().all(|cause| !label.never.contains(cause)), "{name}");
        assert!(label.unseen.len() < 2, "{name} is seen somewhere");
    }
}

#[test]
fn a_seed_draws_the_same_again_and_another_seed_something_else() {
    let drawn = |seed| (rows().next().unwrap().draw)(&mut Chance::new(seed, 1));
    assert_eq!((drawn(7).settings, drawn(7).server.line), (drawn(7).settings, drawn(7).server.line));
    assert_ne!(drawn(7).settings, drawn(8).settings);
}

#[test]
fn a_fix_for_a_programs_setting_changes_only_that() {
    let program = || {
        Program::client("sh", "serve -w 9000 file")
            .with_file("conf", "size 1; -w 9000")
            .fix_edits("SO_RCVBUF", "-w 9000 ", "")
            .fix_edits("HTTP/2", "size 1;", "size 1; window {B};")
    };
    let mut fixed = program();
    assert!(fixed.apply_fix("where it sets SO_RCVBUF take that out"));
    assert_eq!((fixed.line.as_str(), fixed.files[0].1.as_str()), ("serve file", "size 1; -w 9000"));
    let mut larger = program();
    assert!(larger.apply_fix("raise the window of HTTP/2: 100 Mbit/s needs 1,234,567 B"));
    assert_eq!(larger.files[0].1, "size 1; window 1234567; -w 9000");
    let mut as_it_was = program();
    assert!(!as_it_was.apply_fix("sysctl -w net.ipv4.tcp_slow_start_after_idle=0"));
    assert_eq!(as_it_was.line, program().line);
}

#[test]
fn fix_edits_of_a_scenario_match_its_programs() {
    for Row { name, draw, .. } in rows() {
        let DrawnRun { server, client, .. } = draw(&mut Chance::new(3, 1));
        for program in [server, client] {
            for edit in &program.fix_edits {
                assert!(program.clone().apply_fix(edit.named), "{name}: {}", edit.named);
            }
        }
    }
}

#[test]
fn a_folder_and_what_is_in_it_go_with_their_value() {
    let place = RunFolder::new().unwrap();
    let folder = place.0.clone();
    place.write(&Program::default().with_file("file", "in {DIR}")).unwrap();
    assert_eq!(std::fs::read_to_string(folder.join("file")).unwrap(), format!("in {}", folder.display()));
    drop(place);
    assert!(!folder.exists());
}
