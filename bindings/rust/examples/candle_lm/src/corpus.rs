// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! The text of examples/train_lm, cut as it does: blocks of 512 bytes, every tenth held out, if its middle is nowhere else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const BLOCK: usize = 512;
const HELD_OUT_EVERY: usize = 10;
const PROBE: usize = 64;
const FOLDER: &str = "/usr/share/common-licenses";

pub struct Corpus {
    /// What lies between the tenth blocks.
    pub training: Vec<Vec<u8>>,
    pub held_out: Vec<Vec<u8>>,
}

/// The regular files of the folder, each once.
fn files() -> std::io::Result<BTreeSet<PathBuf>> {
    let real = |entry: std::io::Result<std::fs::DirEntry>| entry.and_then(|entry| entry.path().canonicalize());
    let paths: BTreeSet<PathBuf> = std::fs::read_dir(Path::new(FOLDER))?.filter_map(|entry| real(entry).ok()).collect();
    Ok(paths.into_iter().filter(|path| path.is_file()).collect())
}

impl Corpus {
    pub fn load(given: &[String]) -> std::io::Result<Corpus> {
        let paths: Vec<PathBuf> =
            if given.is_empty() { files()?.into_iter().collect() } else { given.iter().map(PathBuf::from).collect() };
        let mut text = Vec::new();
        for path in paths {
            text.extend(std::fs::read(path)?);
        }
        let corpus = Corpus::cut(&text);
        if corpus.held_out.is_empty() {
            return Err(std::io::Error::other("the text is too short, or repeats itself"));
        }
        Ok(corpus)
    }

    fn cut(text: &[u8]) -> Corpus {
        let (mut training, mut tenth) = (Vec::new(), Vec::new());
        for period in text.chunks(HELD_OUT_EVERY * BLOCK) {
            let whole = period.len() == HELD_OUT_EVERY * BLOCK;
            let cut = if whole { period.len() - BLOCK } else { period.len() };
            training.push(period[..cut].to_vec());
            tenth.extend(whole.then(|| period[cut..].to_vec()));
        }
        let occurs = |block: &Vec<u8>| {
            let probe = &block[(BLOCK - PROBE) / 2..][..PROBE];
            training.iter().any(|span: &Vec<u8>| span.windows(PROBE).any(|window| window == probe))
        };
        let held_out = tenth.iter().filter(|block| !occurs(block)).cloned().collect();
        Corpus { training, held_out }
    }

    /// A place in the training text for each number: `length` + 1 bytes.
    pub fn window(&self, number: u64, length: usize) -> &[u8] {
        let spans: Vec<&Vec<u8>> = self.training.iter().filter(|span| span.len() > length).collect();
        let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let span = spans[(mixed >> 33) as usize % spans.len()];
        let begin = (mixed & 0xffff_ffff) as usize % (span.len() - length);
        &span[begin..=begin + length]
    }
}
