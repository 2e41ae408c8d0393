// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! Programs that must not compile. Each file of tests/refused says at its `// refused: E....` with which error; without the lines
//! that are there under `cfg(wrong)` it must compile, so that it is those which are refused.

use std::path::{Path, PathBuf};
use std::process::Command;

fn newest(folder: &Path, prefix: &str, ending: &str) -> PathBuf {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with(prefix) && name.ends_with(ending)
    };
    files.filter(is).max_by_key(|path| path.metadata().unwrap().modified().unwrap()).expect(prefix)
}

/// What rustc says, or nothing where it is content.
fn compile(source: &Path, wrong: bool) -> Option<String> {
    let programs = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let library = newest(&programs, "libmoemesh-", ".rlib");
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args([
        "--edition=2024",
        "--crate-type=lib",
        "--emit=metadata",
        "--check-cfg=cfg(wrong)",
        "-Adead_code",
        "-L",
    ]);
    rustc.arg(&programs).arg("--extern").arg(format!("moemesh={}", library.display()));
    rustc.arg("--out-dir").arg(std::env::temp_dir()).arg(source);
    if wrong {
        rustc.arg("--cfg=wrong");
    }
    let output = rustc.output().expect("rustc");
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn what_would_be_unsound_does_not_compile() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let source = entry.unwrap().path();
        let text = std::fs::read_to_string(&source).unwrap();
        let code = text.split("// refused: ").nth(1).expect("an error code").split_whitespace().next().unwrap();
        assert_eq!(compile(&source, false), None, "{} without its wrong lines", source.display());
        let said = compile(&source, true).unwrap_or_else(|| panic!("{} compiles", source.display()));
        let codes: Vec<&str> = said.lines().filter(|line| line.starts_with("error[")).collect();
        assert!(!codes.is_empty() && codes.iter().all(|line| line.starts_with(&format!("error[{code}]"))), "{said}");
        count += 1;
    }
    assert!(count >= 13, "{count} programs");
}
