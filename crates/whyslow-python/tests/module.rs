//! Cargo builds the module together with this program, with the dependencies of all other tests.
//! `tools/test python` then tests the module from Python.

#[test]
fn module_is_next_to_its_test() {
    let program = std::env::current_exe().expect("this program");
    let module = format!("{}_whyslow{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    assert!(program.with_file_name(&module).is_file(), "{module}");
}
