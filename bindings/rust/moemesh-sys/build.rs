// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! Finds libmoemesh: `MOEMESH_LIB_DIR` (the folder of libmoemesh.so), `MOEMESH_DIR` (a prefix), pkg-config, in this order.
//! Dependents get the folder as `DEP_MOEMESH_LIBDIR`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::exit;

/// The first release whose functions these bindings declare.
const LEAST_VERSION: &str = "0.1.0";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=include/moemesh.h");
    for name in ["MOEMESH_LIB_DIR", "MOEMESH_DIR", "DOCS_RS"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    #[cfg(feature = "bindgen")]
    generate::write_to(&PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")));
    // Documentation needs no library, and `dynamic-load` opens it at run time.
    if env::var_os("DOCS_RS").is_some() || env::var_os("CARGO_FEATURE_DYNAMIC_LOAD").is_some() {
        return;
    }
    link();
}

fn link() {
    let folder = env::var_os("MOEMESH_LIB_DIR").map(PathBuf::from);
    let prefix = env::var_os("MOEMESH_DIR").map(PathBuf::from);
    match (folder, prefix) {
        (Some(folder), _) => link_in("MOEMESH_LIB_DIR", &folder, std::slice::from_ref(&folder)),
        (None, Some(prefix)) => link_in("MOEMESH_DIR", &prefix, &library_folders(&prefix)),
        (None, None) => link_by_pkg_config(),
    }
}

/// Where a prefix may have its libraries.
fn library_folders(prefix: &Path) -> Vec<PathBuf> {
    let multiarch = format!("lib/{}-linux-gnu", env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default());
    ["lib", "lib64", &multiarch].iter().map(|name| prefix.join(name)).collect()
}

fn link_in(variable: &str, given: &Path, folders: &[PathBuf]) {
    let Some(folder) = folders.iter().find(|f| f.join("libmoemesh.so").exists()) else {
        fail(&format!("{variable} is {}, but there is no libmoemesh.so in it", given.display()));
    };
    println!("cargo::rustc-link-search=native={}", folder.display());
    println!("cargo::rustc-link-lib=dylib=moemesh");
    println!("cargo::metadata=LIBDIR={}", folder.display());
}

fn link_by_pkg_config() {
    match pkg_config::Config::new().atleast_version(LEAST_VERSION).probe("moemesh") {
        Ok(library) => {
            if let Some(folder) = library.link_paths.first() {
                println!("cargo::metadata=LIBDIR={}", folder.display());
            }
        }
        Err(error) => fail(&format!("pkg-config does not find it:\n{error}")),
    }
}

fn fail(why: &str) -> ! {
    eprintln!(
        "moemesh-sys needs libmoemesh {LEAST_VERSION} or newer; {why}\n\n\
         To install it, in moemesh's source folder:\n  \
         cmake/install-deps\n  \
         cmake --preset host-release && cmake --build build/host-release\n  \
         cmake --install build/host-release --prefix PREFIX\n\
         then set MOEMESH_DIR=PREFIX, or PKG_CONFIG_PATH=PREFIX/lib/pkgconfig; to run, LD_LIBRARY_PATH=PREFIX/lib.\n"
    );
    exit(1)
}

#[cfg(feature = "bindgen")]
mod generate {
    use std::path::Path;

    /// Types and functions lie in files of their own.
    pub fn write_to(folder: &Path) {
        write(bindgen::CodegenConfig::FUNCTIONS.complement(), &folder.join("types.rs"));
        write(bindgen::CodegenConfig::FUNCTIONS, &folder.join("functions.rs"));
        let functions = std::fs::read_to_string(folder.join("functions.rs")).expect("functions.rs");
        std::fs::write(folder.join("dynamic.rs"), wrappers(&functions)).expect("dynamic.rs");
        let list = status_list(&std::fs::read_to_string("include/moemesh.h").expect("include/moemesh.h"));
        std::fs::write(folder.join("status.rs"), list).expect("status.rs");
    }

    fn write(what: bindgen::CodegenConfig, file: &Path) {
        bindgen::builder()
            .header("include/moemesh.h")
            .with_codegen_config(what)
            .allowlist_file(".*moemesh\\.h")
            .default_enum_style(bindgen::EnumVariation::Consts)
            .prepend_enum_name(false)
            .use_core()
            .layout_tests(true)
            .generate_comments(false)
            .derive_debug(true)
            .rust_target(bindgen::RustTarget::stable(85, 0).expect("Rust 1.85"))
            .rust_edition(bindgen::RustEdition::Edition2024)
            .formatter(bindgen::Formatter::Prettyplease)
            .disable_header_comment()
            .raw_line("// SPDX-License-Identifier: Apache-2.0")
            .raw_line("// Copyright 2026 The moemesh authors")
            .raw_line("// Made from moemesh.h by bindings/rust/generate; not to be edited.")
            .generate()
            .expect("bindgen reads moemesh.h")
            .write_to_file(file)
            .expect("bindings are written");
    }

    const NOTE: &str = "// SPDX-License-Identifier: Apache-2.0\n// Copyright 2026 The moemesh authors\n\
                        // Made from moemesh.h by bindings/rust/generate; not to be edited.\n\n";

    /// Every function again, by way of the table of moemesh_get_api.
    fn wrappers(functions: &str) -> String {
        let flat = functions.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut text = NOTE.to_owned();
        for declaration in flat.split("pub fn ").skip(1) {
            let declaration = &declaration[..declaration.find(';').expect("a declaration's end")];
            let (name, rest) = declaration.split_once('(').expect("arguments");
            let (arguments, result) = rest.rsplit_once(')').expect("arguments");
            if name == "moemesh_get_api" {
                continue;
            }
            let arguments = || arguments.split(',').map(str::trim).filter(|argument| !argument.is_empty());
            let names: Vec<&str> =
                arguments().filter_map(|argument| argument.split_once(':')).map(|pair| pair.0).collect();
            let lines: String = arguments().map(|argument| format!("    {argument},\n")).collect();
            text += &format!(
                "pub unsafe fn {name}(\n{lines}){result} {{\n    match member!({}) {{\n        \
                 Some(call) => unsafe {{ call({}) }},\n        None => missing(),\n    }}\n}}\n",
                name.trim_start_matches("moemesh_"),
                names.join(", ")
            );
        }
        text
    }

    /// The rows `X(NAME, value, "text")` of MOEMESH_STATUS_LIST, as a macro that hands them to another one.
    fn status_list(header: &str) -> String {
        let mut rows = String::new();
        let lines = header.lines().skip_while(|line| !line.starts_with("#define MOEMESH_STATUS_LIST(X)")).skip(1);
        for line in lines {
            let row = line.trim().trim_end_matches('\\').trim();
            let Some(row) = row.strip_prefix("X(").and_then(|row| row.strip_suffix(')')) else { break };
            let mut parts = row.splitn(3, ", ");
            let (name, value, text) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
            rows += &format!("            ({}, MOEMESH_{name}, {value}, {text});\n", variant(name));
            if !line.trim_end().ends_with('\\') {
                break;
            }
        }
        format!(
            "{NOTE}\
             /// Calls a macro with every row `(Variant, MOEMESH_NAME, value, \"text\");` of MOEMESH_STATUS_LIST.\n\
             #[macro_export]\nmacro_rules! for_each_status {{\n    ($($call:tt)+) => {{\n        \
             $($call)+! {{\n{rows}        }}\n    }};\n}}\n"
        )
    }

    /// ERROR_MESH_SIZE: MeshSize.
    fn variant(name: &str) -> String {
        let capital = |word: &str| word[..1].to_owned() + &word[1..].to_lowercase();
        name.trim_start_matches("ERROR_").split('_').map(capital).collect()
    }
}
